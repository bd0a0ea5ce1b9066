#include "calendar_operator.h"

#include <utility>

#include "sim_zones.h"
#include "world.h"

namespace rota::sim {

using master::core::CalendarApplied;
using master::core::ReplyBody;
using std::chrono_literals::operator""ms;

namespace {

constexpr int kPercent = 30;             ///< of the worlds have calendars
constexpr std::uint64_t kStream = 41;

}  // namespace

CalendarOperator::CalendarOperator(World& world, Ask ask)
    : world_(world),
      dice_(world.recipe.seed, kStream),
      jobs_(dice_.chance(kPercent) ? static_cast<std::size_t>(1 + dice_.below(3)) : 0),
      draw_(dice_, world.clockwork),
      ask_(std::move(ask)) {}

void CalendarOperator::begin() {
  if (is_idle()) return;
  for (const std::string& name : draw_.names()) edit(name);
  world_.after(dice_.between(1000ms, 4000ms), [this] { act(); });
}

void CalendarOperator::act() {
  if (stopped_) return;
  world_.after(dice_.between(700ms, 6000ms), [this] { act(); });
  const std::string name = draw_.names()[dice_.index(draw_.names().size())];
  if (dice_.chance(12)) return remove(name);
  if (!dice_.chance(50)) return edit(name);
  world_.after(until_edit_meets_a_tick(), [this, name] { edit(name); });
}

/// Until a leader's clock shows five whole seconds, at which many ticks are: an edit of now counts 10 s later.
Millis CalendarOperator::until_edit_meets_a_tick() {
  constexpr Millis kMeet{5000};
  for (const auto& master : world_.masters) {
    if (!master->leads()) continue;
    const Millis clock = world_.clockwork.true_wall() + master->clock_error() - WallTime{};
    return kMeet - clock % kMeet;
  }
  return 0ms;
}

void CalendarOperator::edit(const std::string& name) {
  if (stopped_) return;
  Edit edit;
  edit.calendar = std::make_shared<const model::Calendar>(draw_.calendar(name));
  const auto known = known_.find(name);
  if (dice_.chance(40)) edit.expected = known == known_.end() ? 0 : known->second;
  if (dice_.chance(5)) edit.expected = static_cast<std::int32_t>(dice_.below(4));
  apply(std::move(edit));
}

void CalendarOperator::apply(Edit edit) {
  auto compiled = master::core::compile_calendar(*edit.calendar, *sim_zone(edit.calendar->time_zone));
  if (!compiled) return world_.violate("a calendar of the simulator is refused: " + compiled.error().message);
  const auto shared = std::make_shared<const master::core::CompiledCalendar>(std::move(*compiled));
  ask_(
      [edit, shared](Token token) -> master::core::Event {
        return master::core::ApplyCalendar{token, "sim", "default", edit.calendar, shared, edit.expected};
      },
      [this, edit](const ReplyBody& body) { receive(edit, body); });
}

void CalendarOperator::receive(const Edit& edit, const ReplyBody& body) {
  if (const auto* applied = std::get_if<CalendarApplied>(&body)) return receive_applied(edit, *applied);
  const auto* error = std::get_if<Error>(&body);
  if (error == nullptr) return world_.violate("an edit of a calendar gets another answer");
  Edit again = edit;
  if (error->code == ErrorCode::Conflict) {
    world_.marks.hit("calendar_edit_stale");
    known_.erase(edit.calendar->name);
    return;
  }
  if (error->code == ErrorCode::Unavailable) world_.marks.hit("calendar_edit_refused_in_a_hold");
  if (error->code == ErrorCode::UnknownOutcome) {
    world_.marks.hit("calendar_edit_unknown");
    again.was_unknown = true;
    again.expected.reset();  // its own first try may have made a version
  }
  const bool gives_up = !again.was_unknown && dice_.chance(15);
  if (stopped_ || gives_up) return;
  world_.after(dice_.between(100ms, 1500ms), [this, again] {
    if (!stopped_) apply(again);
  });
}

void CalendarOperator::receive_applied(const Edit& edit, const CalendarApplied& applied) {
  const std::string& name = edit.calendar->name;
  known_[name] = applied.version;
  world_.trace("calendar", name + " v" + std::to_string(applied.version) + (applied.changed ? "" : " as it was"));
  if (edit.was_unknown && !applied.changed) world_.marks.hit("calendar_edit_unknown_but_stored");
  const auto& rows = world_.store.tables().calendars;
  const auto row = rows.find({"default", name, applied.version});
  const bool is_stored = row != rows.end() && row->second.from == applied.from && *row->second.calendar == *edit.calendar;
  if (!is_stored && !world_.store.went_back()) world_.violate("P10: an acknowledged edit of a calendar is not stored");
  if (applied.changed && !applied.created && dice_.chance(25)) strike_at(applied.from);
}

void CalendarOperator::remove(const std::string& name) {
  ask_(
      [name](Token token) -> master::core::Event {
        return master::core::DeleteCalendar{token, "sim", "default", name, "sim"};
      },
      [this, name](const ReplyBody& body) {
        if (std::holds_alternative<CalendarApplied>(body)) known_.erase(name);
        const auto* error = std::get_if<Error>(&body);
        if (error != nullptr && error->code == ErrorCode::Conflict) world_.marks.hit("calendar_in_use_not_deleted");
      });
}

/// A leader that dies or freezes when an edit begins to count, a moment before or after.
void CalendarOperator::strike_at(WallTime from) {
  const bool crashes = world_.faults_on("leader_crash"), freezes = world_.faults_on("leader_freeze");
  const Millis in = from - world_.clockwork.true_wall() + dice_.between(-300ms, 300ms);
  if ((!crashes && !freezes) || in <= 0ms) return;
  const bool dies = crashes && (!freezes || dice_.chance(50));
  const Millis lasts = dice_.between(500ms, 9000ms);
  world_.after(in, [this, dies, lasts] {
    if (stopped_ || world_.is_healed()) return;
    for (auto& master : world_.masters) {
      if (!master->leads() || master->epoch() != world_.store.epoch()) continue;
      world_.marks.hit("leader_struck_when_an_edit_counts");
      return dies ? master->crash(true, lasts) : master->freeze(lasts);
    }
  });
}

}  // namespace rota::sim
