// The checks of a planned moment (why_rules.h).
#include <fmt/format.h>

#include <algorithm>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "master/api/explain_rules.h"
#include "master/api/why_rules.h"
#include "master/core/admission/late_rules.h"

namespace rota::master::api {
namespace {

using model::Reason;

class Moment {
 public:
  Moment(const TickFacts& tick, const MomentFacts& facts) : tick_(tick), facts_(facts) {
    for (int i = 0; i <= static_cast<int>(Step::Firings); ++i) {
      checks_.push_back({static_cast<Step>(i), Verdict::Passed, {}, {}, {}});
    }
  }

  std::vector<Check> take() {
    tell_passed();
    if (!tick_.run) tell_unfired();
    return std::move(checks_);
  }

 private:
  Check& at(Step step) { return checks_[static_cast<std::size_t>(step)]; }

  void stop_at(Step step, std::string sentence, std::string command, std::vector<std::string> holders = {}) {
    for (Check& check : checks_) {
      if (check.step <= step) continue;
      check = {check.step, Verdict::NotReached, {}, {}, {}};
    }
    at(step) = {step, Verdict::Stopped, std::move(sentence), std::move(holders), std::move(command)};
  }
  void not_reached_from(Step step) {
    for (Check& check : checks_) {
      if (check.step >= step) check = {check.step, Verdict::NotReached, {}, {}, {}};
    }
  }

  std::string command(const std::string& words) const {
    return facts_.space == "default" ? "rota " + words : "rota --namespace " + facts_.space + " " + words;
  }
  std::string job_command(const std::string& verb) const {
    return command("job " + verb + " " + facts_.job_name);
  }

  /// Who led, or that nobody did.
  std::string leader_words() const {
    if (!facts_.by || facts_.by->epoch == Epoch{}) return "";
    const DecidedBy& by = *facts_.by;
    const std::string name = by.leader.empty()
                                 ? fmt::format("the leader of term {}", by.epoch.value)
                                 : fmt::format("{} (term {})", shown_text(by.leader), by.epoch.value);
    if (was_leaderless(tick_.at, by)) {
      return fmt::format(
          "Nobody who led recorded it: {} decided it, in office since {}, {} after the moment.", name,
          format_moment(*by.since), format_duration(*by.since - tick_.at));
    }
    return fmt::format("{} decided it.", name);
  }

  void tell_passed() {
    at(Step::Due).sentence = tick_.whose.sentence;
    at(Step::Leader).sentence = leader_words();
    if (!tick_.run) return;
    const Millis late = tick_.run->recorded - tick_.at;
    if (late <= facts_.grace) return;
    at(Step::Late).sentence =
        fmt::format("It was {} late, more than its grace of {}, and fired all the same ({}).",
                    format_duration(late), format_duration(facts_.grace), late_text());
  }
  const char* late_text() const {
    switch (tick_.late) {
      case model::LatePolicy::FireOnce: return "late: fire_once";
      case model::LatePolicy::FireAll: return "late: fire_all";
      case model::LatePolicy::Skip: return "late: skip";
    }
    return "";
  }

  void tell_unfired() {
    if (tick_.gap) return tell_gap(*tick_.gap);
    if (!tick_.is_planned) return tell_unplanned();
    if (tick_.is_recorded) {
      for (Check& check : checks_) {
        if (check.step >= Step::Leader) check.verdict = Verdict::NotKnown;
      }
      at(Step::Leader).sentence =
          tick_.is_known ? "Nothing is stored about it." : "What became of it is deleted by now.";
      at(Step::Leader).command = command("verify");
      return;
    }
    tell_open();
  }

  /// Not recorded yet.
  void tell_open() {
    const bool is_due = tick_.at <= tick_.now;
    if (!facts_.hold.empty())
      return stop_at(Step::Held, "Ticks are held: " + facts_.hold, "rota cluster status");
    if (is_due) {
      const char* unheard = "No leader could be asked. ";
      return stop_at(Step::Leader,
                     fmt::format("{}It is due, and not recorded yet.", facts_.is_hold_known ? "" : unheard),
                     "rota cluster status");
    }
    if (tick_.freeze) return stop_at_freeze();
    not_reached_from(Step::Leader);
  }

  void stop_at_freeze() {
    const model::Freeze* freeze = tick_.freeze ? &*tick_.freeze : nullptr;
    if (freeze == nullptr) {
      return stop_at(Step::Frozen, reason_sentence(Reason::Frozen, ""), "rota freeze list");
    }
    const bool is_over = tick_.now >= freeze->end();
    const std::string end =
        freeze->space.empty() ? "rota freeze end" : "rota freeze end --namespace " + freeze->space;
    std::string sentence = fmt::format("Freeze {} by {} covers it, until {}{}.", freeze->id,
                                       shown_text(freeze->principal), format_moment(freeze->end()),
                                       freeze->why.empty() ? "" : ": " + shown_text(freeze->why));
    if (tick_.made_up) sentence += fmt::format(" Run {} stands for it.", tick_.made_up->value);
    stop_at(Step::Frozen, std::move(sentence), is_over ? "rota freeze list" : end,
            {fmt::format("freeze {} by {}", freeze->id, shown_text(freeze->principal))});
  }

  void tell_unplanned() {
    const MomentWords& unready = tick_.unready;
    const bool is_to_come = tick_.at > tick_.now;
    if (is_to_come && tick_.state == model::JobState::Paused) {
      return stop_at(Step::Paused, fmt::format("The job is paused by {}.", shown_text(tick_.state_by)),
                     job_command("resume"), {shown_text(tick_.state_by)});
    }
    if (unready.reason == "paused") {
      return stop_at(Step::Paused, capital(unready.sentence) + ".",
                     tick_.state == model::JobState::Paused ? job_command("resume") : job_command("show"));
    }
    if (!unready.reason.empty())
      return stop_at(Step::Job, capital(unready.sentence) + ".", job_command("show"));
    const bool is_of_calendar = !tick_.why.calendar.empty();
    const std::string sentence =
        tick_.why.sentence.empty() ? "Its schedule has no tick at this moment." : tick_.why.sentence;
    if (!is_of_calendar) return stop_at(Step::Due, sentence, job_command("next"));
    stop_at(Step::Calendar, sentence, command("calendar show " + tick_.why.calendar),
            {fmt::format("calendar {} (version {})", tick_.why.calendar, tick_.why.calendar_version)});
  }
  static std::string capital(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
      text.front() = static_cast<char>(text.front() - 32);
    return text;
  }

  void tell_gap(const model::Gap& gap) {
    const Step step = step_of(gap.reason).value_or(Step::Leader);
    if (step == Step::Frozen) return stop_at_freeze();
    std::string sentence = reason_sentence(gap.reason, "?");
    if (step == Step::Calendar && !tick_.why.sentence.empty()) sentence = tick_.why.sentence;
    std::vector<std::string> holders;
    if (gap.reference != 0) holders.push_back(fmt::format("run {}", gap.reference));
    if (step == Step::Leader) {
      if (const std::string led = leader_words(); !led.empty()) sentence = led + " " + sentence;
    }
    if (step == Step::Late) {
      sentence += fmt::format(" Its grace is {}.", format_duration(facts_.grace));
    }
    stop_at(step, std::move(sentence), gap_command(step, gap), std::move(holders));
  }

  std::string gap_command(Step step, const model::Gap& gap) const {
    switch (step) {
      case Step::Leader:
      case Step::Overlap:
      case Step::Late:
        if (gap.reference != 0) return fmt::format("rota run why {}", gap.reference);
        return job_command("run");
      case Step::Firings: return "rota namespace show " + facts_.space;
      case Step::Calendar:
        return tick_.why.calendar.empty() ? job_command("next")
                                          : command("calendar show " + tick_.why.calendar);
      default: return job_command("run");
    }
  }

  const TickFacts& tick_;
  const MomentFacts& facts_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> checks_of_moment(const TickFacts& tick, const MomentFacts& facts) {
  return Moment(tick, facts).take();
}

}  // namespace rota::master::api
