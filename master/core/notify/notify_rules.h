// Who is told what happened: a row for each receiver that wants to hear of it, in the batch that decides
// it. The shell sends what the core asks for, one at a time to each receiver, and says how it went; the
// core decides when it is tried again, and when it is given up. A new Term goes on with what is open, so a
// receiver may hear of one thing twice: by the same id.
#pragma once

#include <string>

#include "master/core/state.h"

namespace rota::master::core {

/// A try that failed is followed by another after a pause, which grows from the first to the last of these.
inline constexpr Millis kFirstTryAgain{1000};
inline constexpr Millis kLastTryAgain{600'000};

/// What is told besides the job.
struct Told {
  RunId run{};
  std::optional<WallTime> moment{};
  std::string text;
};

void notify_of_job(Context& ctx, model::Happening what, const JobEntry& job, Told told);
/// A run has ended; nothing is told of most ends.
void notify_of_end(Context& ctx, const RunEntry& run);
/// Ticks did not fire; nothing is told where a rule, a person or another run is the reason.
void notify_of_gap(Context& ctx, const JobEntry& job, const model::Gap& gap);
/// Of the cluster, or of a worker of it.
void notify_of_cluster(Context& ctx, model::Happening what, const std::string& worker, std::string text);

/// A receiver that a job names and that this leader does not have; empty: it has all.
std::string unknown_receiver(const State& state, const model::JobRules& rules);

/// Ticks are held from now on, or not any more.
void handle_hold_ticks(Context& ctx, const HoldTicks& event);
void handle_notification_tried(Context& ctx, const NotificationTried& event);
/// At the end of each event: what may leave leaves with the batch.
void send_notifications(Context& ctx);
/// With the first event of a Term: who is told is stored, and what nobody can be told any more is given up.
void begin_to_notify(Context& ctx);
/// When TimePassed is wanted.
std::optional<MonoTime> notify_wake(const State& state);

}  // namespace rota::master::core
