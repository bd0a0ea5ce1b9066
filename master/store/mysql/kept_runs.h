// Two small tables beside `run`, so that it needs no index on its state: `run_open` names the runs that have
// not ended, `run_unsuccessful` those that ended other than well. Both hold candidates: who reads them asks
// the run's own state too.
//
// `run_open` also holds the first dispatch of a run that waited, until the run's own row gets it with its
// next change. That is mostly its last one: a run's row, which is wide, is written twice and not three times.
// So who reads a run's state, worker or dispatch asks both (kRunState and others, run_rows.h).
//
// Every batch keeps them, from the Term on that first made them whole. Masters of older versions do not know
// them; while such a one leads they are not kept. So the epoch's row says for which epoch each is whole: a
// takeover carries that on where it was so for the epoch before, and otherwise makes them whole again. So it
// does when a table was made anew: a run 0 in it, which never is, shows that it was not. Once a master that
// stores dispatches in run_open has led, none of an older version can (schema step 046).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "master/core/effect.h"
#include "master/store/mysql/batch_text.h"

namespace rota::master::store {

/// Which of them hold all that they should, under the epoch in force.
struct KeptRuns {
  Epoch epoch;
  bool open = false;
  bool ended = false;
  bool open_was_emptied = false;  ///< it should be whole, and is not: somebody emptied it or made it anew
};
Result<KeptRuns> look_at_kept_runs(Connection& connection);

/// "run_open o … run r" where it is kept, else "run r … run_open o". Put the condition on r.state behind it.
std::string from_open_runs(const KeptRuns& kept);

/// Writes what a batch changes of them, except dispatches (alike_updates.h). Repeating it is harmless.
void write_kept_runs(BatchText& batch, const core::Changes& changes);
/// Takes the dispatch of these runs out of run_open, since their own rows say more.
void forget_dispatch_apart(BatchText& batch, const std::vector<const core::RunUpdate*>& updates);

/// After this epoch was claimed, before anything is read: makes run_open whole, unless it was carried on, and
/// where `run` has no index on its state run_unsuccessful too. Nothing when another epoch is in force. False:
/// run_open was emptied or made anew, so that nobody knows which of the waiting runs had been dispatched.
Result<bool> settle_kept_runs(Connection& connection, Epoch epoch);

/// Makes run_unsuccessful whole while its leader is in office, a few rows each time, so that a long history
/// delays no takeover; then drops the index on the state of all runs.
/// Thread: one at a time. Errors: as Connection. What was done stands, and a repeat does no harm.
class UnsuccessfulFill {
 public:
  Result<void> step(Connection& connection, Epoch epoch);
  bool is_over() const { return is_over_; }

 private:
  Result<void> fill_some(Connection& connection);
  Result<void> drop_index(Connection& connection);

  Epoch epoch_;
  bool is_over_ = false;        ///< for that epoch
  std::size_t state_ = 0;       ///< of the states, the one that is looked for now
  std::int64_t after_ = 0;      ///< its runs are there up to here
  int drops_failed_ = 0;
};

}  // namespace rota::master::store
