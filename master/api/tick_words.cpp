#include "master/api/tick_words.h"

#include <fmt/format.h>

#include "common/base/duration_text.h"
#include "master/api/explain_rules.h"
#include "master/core/admission/stuck_rules.h"

namespace rota::master::api {
namespace {

std::string next_text(const TickFacts& facts) {
  return facts.next ? fmt::format(" The next tick is at {}.", format_moment(*facts.next)) : "";
}

std::string with_space(const std::string& text) { return text.empty() ? "" : " " + text; }

std::string freeze_text(const model::Freeze& freeze) {
  return fmt::format("freeze {} by {}, until {}{}", freeze.id, freeze.principal, format_moment(freeze.end()),
                     freeze.why.empty() ? "" : ": " + freeze.why);
}

/// What follows a frozen tick.
std::string after_freeze(const TickFacts& facts) {
  if (facts.made_up) return fmt::format(" Run {} stands for it.", facts.made_up->value);
  if (!facts.freeze || facts.freeze->done) return "";
  switch (facts.late) {
    case model::LatePolicy::Skip: return " It is not made up for (late: skip).";
    case model::LatePolicy::FireOnce: return " One run stands for all frozen ticks when it ends.";
    case model::LatePolicy::FireAll: return " It is made up for when the freeze ends.";
  }
  return "";
}

TickWords fired(const TickFacts& facts) {
  const model::Run& run = *facts.run;
  const Millis late = run.recorded - facts.at;
  std::string text = fmt::format("It fired as run {}, which is {}", run.id.value,
                                 name_of(run.progress.state));
  text += late > Millis{2000} ? fmt::format("; it was {} late.", format_duration(late)) : ".";
  return {"fired", text + with_space(facts.whose.sentence), ""};
}

TickWords skipped(const TickFacts& facts) {
  const model::Gap& gap = *facts.gap;
  if (gap.reason == model::Reason::Frozen) {
    const std::string which = facts.freeze ? freeze_text(*facts.freeze)
                                           : fmt::format("freeze {}", gap.reference);
    return {"frozen", "It did not fire: " + which + "." + after_freeze(facts), ""};
  }
  const bool is_of_edit = gap.reason == model::Reason::CalendarEdited && !facts.why.sentence.empty();
  std::string text = "It did not fire (" + std::string(name_of(gap.reason)) + "): " +
                     (is_of_edit ? facts.why.sentence : reason_sentence(gap.reason, "?"));
  if (gap.reference != 0) text += fmt::format(" (run {})", gap.reference);
  if (facts.skipped_behind >= core::kStuckTicks) {
    text += fmt::format(" The job is stuck: {} ticks were skipped behind that run, which has not ended.",
                        facts.skipped_behind);
  }
  if (gap.count > 1) text += fmt::format(" The same holds for {} ticks in all.", gap.count);
  return {"skipped", std::move(text), ""};
}

TickWords unplanned(const TickFacts& facts) {
  const bool is_to_come = facts.at > facts.now;
  if (is_to_come && facts.state == model::JobState::Paused) {
    const std::string by = "the job is paused by " + facts.state_by + ".";
    return {"not_planned", "No tick is planned at this moment: " + by, "paused"};
  }
  if (!facts.unready.reason.empty()) {
    return {"not_planned", "No tick was planned at this moment: " + facts.unready.sentence + ".",
            facts.unready.reason};
  }
  if (!facts.why.reason.empty()) {
    return {"not_planned", "No tick is planned at this moment. " + facts.why.sentence, facts.why.reason};
  }
  return {"not_planned", "No tick is planned at this moment.", "no_such_moment"};
}

TickWords words_without_next(const TickFacts& facts) {
  if (facts.run) return fired(facts);
  if (facts.gap) return skipped(facts);
  if (!facts.is_planned) return unplanned(facts);
  if (facts.is_recorded) {
    const char* unknown = "A tick was planned then, and nothing is stored about it; see: rota verify.";
    const char* deleted = "A tick was planned then; what became of it is deleted by now.";
    return {"not_known", facts.is_known ? unknown : deleted, ""};
  }
  if (facts.at <= facts.now) return {"due", "It is due, and not recorded yet; see: rota cluster status.", ""};
  if (facts.freeze) {
    return {"frozen", "It will not fire: " + freeze_text(*facts.freeze) + "." + after_freeze(facts), ""};
  }
  return {"planned", "It will fire then." + with_space(facts.whose.sentence), ""};
}

}  // namespace

TickWords words_for(const TickFacts& facts) {
  TickWords out = words_without_next(facts);
  out.sentence += next_text(facts);
  return out;
}

}  // namespace rota::master::api
