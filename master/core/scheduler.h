// The only door to the core: one Event and the time in, Effects out. It reads no clock, rolls no dice,
// writes no log, blocks on nothing; the same events give the same effects, to the byte.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/notification.h"
#include "common/model/setting.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/core/invariant_sample.h"
#include "master/core/recovered.h"
#include "master/core/snapshot.h"
#include "master/core/violation.h"

namespace rota::master::core {

class State;

/// What an operator may set, already range-checked by configuration. Of the settings, what master.yaml says:
/// what was set while the cluster ran is put over it (Recovered::settings, SetSetting).
struct CoreOptions : model::Settings {
  Millis grant{5000};                 ///< how long an answered renew vouches
  Millis older_grant{0};              ///< the longest that an older Term's leader may have given
  Millis hello_retry{200};            ///< first pause before an unanswered hello is repeated
  Millis dispatch_retry{200};         ///< before an unclear dispatch is repeated to the same worker
  Millis request_key_memory{600'000};
  Millis fence_hold{0};               ///< lost attempts are not sent again for so long after the Term began
  std::int32_t fire_at_most = 5000;   ///< ticks recorded per TimePassed; the rest with the next one
  std::int32_t children_at_most = 1000;  ///< names of child jobs decided in a batch; the rest later
  bool all_know_slices = true;        ///< until MastersSeen says otherwise
  std::string tick_hold;                ///< why ticks are held from the first moment on; or empty
  std::vector<model::ReceiverRule> receivers;  ///< of notifications
  std::vector<std::string> hooks;       ///< names of those that pools may have
};

/// Thread: loop only. Owned by the Term; destroyed, never reset, when leadership goes.
class Scheduler {
 public:
  Scheduler(Epoch epoch, const CoreOptions& options, Recovered recovered, Now now);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Handles one event; appends to `effects` (which may hold those of earlier events of this turn).
  void handle(const Event& event, Now now, Effects& effects);

  /// How long until TimePassed is wanted (zero: at once); empty: nothing is planned.
  std::optional<Millis> next_wake(Now now) const;

  Snapshot snapshot(Now now) const;
  /// Those that decisions go by now.
  const model::Settings& settings() const;

  /// What is always true; ends the process when it is not. Called after every event in tests.
  void check_invariants() const;
  /// A look at a few entries, at others with each call: for production, after each turn. Takes microseconds.
  std::vector<Violation> sample_invariants();

 private:
  friend struct StateSurgery;          // tests break it on purpose
  std::unique_ptr<State> state_;
  InvariantSample sample_;
};

}  // namespace rota::master::core
