#include "setting_operator.h"

#include <iterator>

#include "world.h"

namespace rota::sim {

using master::core::ReplyBody;
using master::core::SetSetting;
using master::core::SettingApplied;
using std::chrono_literals::operator""ms;

namespace {

constexpr int kSettingPercent = 35;               ///< of the worlds have changes
constexpr std::uint64_t kSettingStream = 48;

/// One that is changed, and between which values.
struct Changed {
  const char* name;
  std::int64_t least, most;
  bool needs_half_shares = false;                 ///< in other worlds keys of jobs keep their homes
};
constexpr Changed kChanged[] = {{"catch_up.rate", 1, 40},
                                {"workers.dead_after_ms", 1000, 20'000},
                                {"workers.keep_dead_ms", 5000, 60'000},
                                {"workers.exclude_ms", 300, 5000},
                                {"workers.return_crowd", 1, 20},
                                {"notify.open", 5, 200},
                                {"workers.exclude_jobs", 1, 4, true},
                                {"workers.flap_lives", 2, 6, true},
                                {"load.cpu_weight", 0, 100, true},
                                {"load.slots_weight", 0, 100, true}};

}  // namespace

SettingOperator::SettingOperator(World& world, Ask ask)
    : world_(world), dice_(world.recipe.seed, kSettingStream), is_idle_(!dice_.chance(kSettingPercent)), ask_(std::move(ask)) {}

void SettingOperator::begin() {
  if (!is_idle_) world_.after(dice_.between(500ms, 3000ms), [this] { act(); });
}

void SettingOperator::act() {
  if (stopped_) return;
  world_.after(dice_.between(300ms, 4000ms), [this] { act(); });
  const Changed& one = kChanged[dice_.index(std::size(kChanged))];
  if (one.needs_half_shares && !world_.has_half_shares()) return;
  SetSetting event;
  event.name = one.name;
  event.why = "sim";
  if (!dice_.chance(15)) event.value = one.least + dice_.below(one.most - one.least + 1);
  if (dice_.chance(20)) event.expected_version = static_cast<std::int32_t>(dice_.below(6));
  set(event, false);
}

void SettingOperator::set(SetSetting event, bool is_last) {
  event.principal = "sim";
  world_.store.note_setting_asked(event.name, event.value);
  ask_(
      [event](Token token) -> master::core::Event {
        SetSetting asked = event;
        asked.token = token;
        return asked;
      },
      [this, event, is_last](const ReplyBody& body) {
        if (const auto* applied = std::get_if<SettingApplied>(&body)) {
          if (is_last) --open_;
          return note_answer(event, *applied);
        }
        const auto* error = std::get_if<Error>(&body);
        if (error != nullptr && error->code == ErrorCode::Conflict) world_.marks.hit("setting_edit_stale");
        if (is_last) world_.after(300ms, [this, event] { set(event, true); });
      });
}

void SettingOperator::note_answer(const SetSetting& event, const SettingApplied& applied) {
  world_.trace("setting", event.name + " v" + std::to_string(applied.version));
  if (applied.changed) world_.marks.hit("setting_changed");
  const auto& settings = world_.store.tables().settings;
  const bool is_stored = applied.version == 0 || settings.contains({event.name, applied.version});
  if (!is_stored && !world_.store.went_back()) world_.violate("P46: an acknowledged setting is not stored");
}

void SettingOperator::stop() {
  stopped_ = true;
  if (is_idle_) return;
  open_ = static_cast<int>(std::size(kChanged));
  for (const Changed& one : kChanged) {
    SetSetting open;
    open.name = one.name;
    set(open, true);
  }
}

}  // namespace rota::sim
