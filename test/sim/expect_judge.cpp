#include "expect_judge.h"

#include <algorithm>

#include "common/base/duration_text.h"

namespace rota::sim {

using master::core::Changes;
using model::Happening;
using model::LateRow;
using model::RunState;
using model::ToldOnce;
using std::chrono_literals::operator""ms;

namespace {

constexpr std::int64_t kDayMs = 24 * 3'600'000;

const model::JobRules* rules_of(const SimTables& tables, JobId job, JobVersion version) {
  for (; version > 0; --version) {
    const auto row = tables.versions.find({job, version});
    if (row != tables.versions.end() && row->second.definition) return &row->second.definition->rules;
  }
  return nullptr;
}

std::string words(const LateRow& row) {
  return std::string(name_of(row.what)) + " of job " + std::to_string(row.job.value) + " run " +
         std::to_string(row.run.value) + " tick " + std::to_string(row.tick ? to_ms(*row.tick) : 0);
}

/// Worlds without zones of their own are in UTC.
std::optional<WallTime> finish_by(const model::JobRules& rules, std::optional<WallTime> tick) {
  if (!tick || rules.expect_finish_by.empty() || rules.schedule.time_zone != "UTC") return std::nullopt;
  const std::int64_t clock = (std::stoi(rules.expect_finish_by.substr(0, 2)) * 60 +
                              std::stoi(rules.expect_finish_by.substr(3))) * 60'000;
  std::int64_t at = to_ms(*tick) / kDayMs * kDayMs + clock;
  if (at <= to_ms(*tick)) at += kDayMs;
  return wall_from_ms(at);
}

const LateRow* told(const SimTables& tables, JobId job, RunId run, std::optional<WallTime> tick, ToldOnce what) {
  const auto found = tables.late.find({job, run, tick ? to_ms(*tick) : 0, what, ""});
  return found == tables.late.end() ? nullptr : &found->second;
}

/// By number, and by time: clocks may have been set back between the attempts.
std::pair<std::optional<WallTime>, std::optional<WallTime>> begun(const SimTables& tables, const model::Run& run) {
  std::optional<WallTime> first, earliest = run.progress.dispatched;
  for (auto at = tables.attempts.lower_bound({run.id, 0}); at != tables.attempts.end() && at->first.first == run.id; ++at) {
    if (!at->second.dispatched) continue;
    if (!first) first = at->second.dispatched;
    earliest = std::min(earliest.value_or(*at->second.dispatched), *at->second.dispatched);
  }
  return {first ? first : run.progress.dispatched, earliest};
}

bool is_final_name(const std::string& name) {
  const auto state = model::run_state_named(name);
  return state && model::is_final(*state);
}

}  // namespace

void draw_expected(model::JobRules& rules, Random& dice) {
  rules.expect_start_within = dice.chance(25) ? dice.between(50ms, 6000ms) : 0ms;
  rules.expect_finish_by.clear();
  rules.expect_longer_than.clear();
  const char* times[] = {"22:14", "22:15", "22:16", "22:13"};
  const char* lengths[] = {"2s", "500ms", "1x", "1.5x", "3x", "5s"};
  if (dice.chance(20)) rules.expect_finish_by = times[dice.below(4)];
  if (dice.chance(25)) rules.expect_longer_than = lengths[dice.below(6)];
  if (rules.schedule.kind == model::ScheduleKind::None) rules.expect_finish_by.clear();
}

std::string ExpectJudge::judge_rows(const SimTables& tables, const Changes& changes) const {
  for (const LateRow& row : changes.late) {
    const auto known = tables.late.find(master::store::key_of(row));
    const bool comes_again = row.run == RunId{} && !tables.rewinds.empty();  // a tick by a clock that was ahead
    if (known != tables.late.end() && !(known->second == row) && !comes_again) return "P43: told twice: " + words(row);
    if (row.what == ToldOnce::Term) continue;
    if (row.what == ToldOnce::WorkerDead) {
      marks_.hit("worker_dead_told");
      continue;
    }
    if (row.due && row.told < *row.due && row.run != RunId{} && !is_final_name(row.was)) {
      return "P43: told before its moment: " + words(row);
    }
    marks_.hit("late_" + std::string(name_of(row.what)) + "_told");
    if (row.run == RunId{}) marks_.hit(row.was == model::kWasPaused ? "late_told_of_a_pause" : "late_told_of_a_gap");
    const bool is_later = row.run != RunId{} && row.epoch.value != row.run.value >> kIdCounterBits;
    if (is_later) marks_.hit("late_told_by_a_later_term");
  }
  for (const model::Notification& note : changes.notifications) {
    if (tables.notifications.contains(note.id)) continue;
    const bool is_dead = note.what == Happening::WorkerDead;
    if (note.what != Happening::Late && !is_dead) continue;
    const bool has_row = std::ranges::any_of(changes.late, [&](const LateRow& row) {
      if (is_dead) return row.what == ToldOnce::WorkerDead && row.worker == note.worker;
      return row.job == note.job && row.run == note.run && row.tick == note.moment;
    });
    if (!has_row) return "P43: a notification leaves without its row: " + note.text;
  }
  return "";
}

std::string ExpectJudge::judge_end(const SimTables& tables, const model::Run& run) const {
  const model::JobRules* rules = rules_of(tables, run.job, run.version);
  if (rules == nullptr) return "";
  const auto [first, earliest] = begun(tables, run);
  const std::string of_run = ", run " + std::to_string(run.id.value);
  const auto judge = [&](ToldOnce what, bool is_met) -> std::string {
    const LateRow* row = told(tables, run.job, run.id, run.tick, what);
    if (!is_met && row == nullptr) return "P43: " + std::string(name_of(what)) + " is not met, and told to nobody" + of_run;
    if (is_met && row != nullptr && is_final_name(row->was)) {
      return "P43: " + std::string(name_of(what)) + " is met, and told" + of_run;
    }
    if (is_met && row == nullptr) marks_.hit("expectation_met");
    if (is_met && row != nullptr) marks_.hit("met_unknown_to_the_leader");
    return "";
  };
  std::string wrong;
  if (rules->expect_start_within > Millis{0}) {
    const WallTime from = run.kind == model::RunKind::Child ? run.recorded : run.scheduled;
    const WallTime due = from + rules->expect_start_within;
    const bool one = first && *first <= due, other = earliest && *earliest <= due;
    if (one == other) wrong = judge(ToldOnce::StartWithin, one);
  }
  if (const auto due = finish_by(*rules, run.tick); due && wrong.empty()) {
    wrong = judge(ToldOnce::FinishBy, run.progress.state == RunState::Succeeded && run.progress.ended && *run.progress.ended <= *due);
  }
  const auto most = parse_duration(rules->expect_longer_than);
  if (!rules->expect_longer_than.empty() && most && wrong.empty() && run.progress.ended) {
    const bool one = !first || *run.progress.ended - *first <= *most;
    const bool other = !earliest || *run.progress.ended - *earliest <= *most;
    if (one == other) wrong = judge(ToldOnce::LongerThan, one);
  }
  return wrong;
}

std::string ExpectJudge::judge_gap(const SimTables& tables, const model::Gap& gap) const {
  const model::JobRules* rules = rules_of(tables, gap.job, gap.version);
  if (rules == nullptr || gap.reason == model::Reason::CalendarEdited) return "";
  const auto is_told = [&](ToldOnce what) { return told(tables, gap.job, RunId{}, gap.from, what) != nullptr; };
  const bool must_start = rules->expect_start_within > Millis{0};
  const bool must_finish = finish_by(*rules, gap.from).has_value();
  if ((must_start && !is_told(ToldOnce::StartWithin)) || (must_finish && !is_told(ToldOnce::FinishBy))) {
    return "P43: a tick of job " + std::to_string(gap.job.value) + " does not fire, and is told to nobody";
  }
  return "";
}

}  // namespace rota::sim
