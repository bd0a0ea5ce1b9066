#include "master/upkeep/tick_hold.h"

#include <fmt/format.h>

#include "common/base/duration_text.h"
#include "common/base/log.h"
#include "master/core/time/hold_rules.h"

namespace rota::master {
namespace {

/// Whole seconds, so that the words do not change with every look.
std::int64_t seconds_of(Millis time) {
  return std::chrono::round<std::chrono::seconds>(std::chrono::abs(time)).count();
}

const char* side_of(Millis by) { return by > Millis{0} ? "ahead of" : "behind"; }

std::string moment(WallTime at) { return format_moment(at).substr(0, 19) + "Z"; }

void add(std::string& why, const std::string& more) { why += (why.empty() ? "" : "; ") + more; }

}  // namespace

std::string words_of(const ClockHold& hold) {
  const char* const side = hold.by > Millis{0} ? "ahead" : "back";
  if (hold.is_new) {
    return fmt::format("the leader's clock is about {} s {} other hosts' clocks; set the clocks right, or: "
                       "rota-master --accept-clock --config FILE",
                       seconds_of(hold.by), side_of(hold.by));
  }
  return fmt::format("the leader's clock stepped about {} s {} at {} (by the clock before); ticks go on when "
                     "it is right again, {}or: rota-master --accept-clock --config FILE",
                     seconds_of(hold.by), side, moment(hold.since),
                     hold.has_witness ? "when another host's clock has agreed with it for 60 s, " : "");
}

std::string reason_to_hold(bool restored, const ClockDoubt& doubt) {
  std::string why;
  if (restored) {
    why = "the database is older than the cluster; look at it, then: rota-master --accept-restore "
          "--config FILE";
  }
  if (doubt.skew) {
    add(why, fmt::format("the leader's clock is about {} s {} the database's; set the clocks right",
                         floor_ms(std::chrono::abs(*doubt.skew)).count() / 1000, side_of(*doubt.skew)));
  }
  // A new process has heard the same of the database's clock.
  if (doubt.step && !(doubt.skew && doubt.step->is_new)) add(why, words_of(*doubt.step));
  return why;
}

std::string ticks_word(const core::Snapshot* snapshot, WallTime now) {
  const std::string why = snapshot != nullptr ? core::hold_reason(*snapshot, now) : "";
  return why.empty() ? "ok" : "held: " + why;
}

void AheadNotice::look(const core::Snapshot* snapshot, WallTime now) {
  if (snapshot == nullptr) return;
  std::string why = core::hold_reason("", snapshot->watermark, now);
  if (why == told_) return;
  if (why.empty()) {
    log_info("term", "the clock has reached the ticks that were recorded ahead of it");
  } else {
    log_error("term", "ticks are held", {{"why", why}});
  }
  told_ = std::move(why);
}

}  // namespace rota::master
