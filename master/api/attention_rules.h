// What needs somebody now, most urgent first, each with a command that helps: from what the leader knows and
// what the store holds. Pure.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "job_types.h"
#include "master/core/snapshot.h"
#include "master/core/workers/node_facts.h"
#include "master/store/reader.h"

namespace rota::master::api {

/// Runs of one job that did not end well.
struct FailedJob {
  store::RunRow newest;                  ///< of them
  std::int64_t runs = 0;
  bool has_more = false;                 ///< `runs` is the least number
  bool has_succeeded = false;            ///< its newest run has
  std::string paused_why;                ///< it is paused, and why; empty: it is not
};

/// Runs that wait for one reason, of those that end only when somebody acts, or that wait for long.
struct WaitingRuns {
  store::RunRow oldest;
  core::RunView view;                    ///< of the oldest
  std::string sentence;                  ///< why that one waits, and the remedy
  std::int64_t runs = 0;
};

/// A run behind which tick after tick was skipped, and which has not ended.
struct StuckJob {
  store::GapSum skipped;
  store::RunRow run;
};

/// Expectations of one job that were not met.
struct LateJob {
  model::LateRow newest;
  std::int64_t told = 0;
};

/// Notifications to one receiver that were tried too often.
struct GivenUp {
  std::string receiver;
  std::int64_t count = 0;
  WallTime newest{};                     ///< given up
  std::string last_error;                ///< of that one
};

struct AttentionFacts {
  WallTime now{};
  std::string space;
  std::shared_ptr<const core::Snapshot> snapshot;               ///< empty: this master does not lead
  std::vector<std::pair<std::string, std::string>> health;      ///< part, "ok" or the problem
  std::vector<FailedJob> failed;
  std::vector<store::GapSum> missed;
  std::vector<LateJob> late;
  std::vector<WaitingRuns> waiting;
  std::vector<StuckJob> stuck;
  std::vector<core::PoolShortage> shortages;
  std::vector<GivenUp> given_up;
};

inline constexpr std::size_t kMostAttention = 500;
/// A run that waits so long for slots, tokens or another run is told.
inline constexpr Millis kLongWait{10 * 60'000};

/// Whether it ends only when somebody acts.
bool needs_help(model::Reason reason);
/// Whether it goes on by itself, and somebody should know when that takes long.
bool may_take_long(model::Reason reason);
/// By receiver: those that were given up since then.
std::vector<GivenUp> given_up_since(const std::vector<model::Notification>& rows, WallTime since);
/// Whether ticks that did not fire for this reason were missed, as opposed to left out as their job wants.
const std::vector<model::Reason>& missed_reasons();
/// The end of a run that somebody should know of, as opposed to one that somebody asked for.
bool is_bad_end(const model::RunProgress& progress);

std::vector<thrift::AttentionItem> attention_of(const AttentionFacts& facts);

}  // namespace rota::master::api
