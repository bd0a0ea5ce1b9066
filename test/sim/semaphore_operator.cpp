#include "semaphore_operator.h"

#include <array>

#include "world.h"

namespace rota::sim {

using master::core::ReplyBody;
using master::core::SemaphoreApplied;
using std::chrono_literals::operator""ms;

namespace {

constexpr int kSemaphorePercent = 40;             ///< of the worlds have semaphores
constexpr std::uint64_t kSemaphoreStream = 43;
constexpr std::array<const char*, 2> kSemaphores = {"oracle", "disk"};
constexpr std::int32_t kMostWanted = 2;

}  // namespace

SemaphoreOperator::SemaphoreOperator(World& world, Ask ask)
    : world_(world), dice_(world.recipe.seed, kSemaphoreStream), is_idle_(!dice_.chance(kSemaphorePercent)), ask_(std::move(ask)) {}

void SemaphoreOperator::draw(model::JobRules& rules) {
  rules.uses.clear();
  if (is_idle_) return;
  for (const char* name : kSemaphores) {
    if (dice_.chance(40)) rules.uses[name] = static_cast<std::int32_t>(1 + dice_.below(kMostWanted));
  }
}

void SemaphoreOperator::begin() {
  if (is_idle_) return;
  for (const char* name : kSemaphores) set(name, static_cast<std::int32_t>(2 + dice_.below(3)), Set::UntilDone);
  world_.after(dice_.between(1000ms, 4000ms), [this] { act(); });
}

void SemaphoreOperator::act() {
  if (stopped_) return;
  world_.after(dice_.between(700ms, 6000ms), [this] { act(); });
  const std::string name = kSemaphores[dice_.index(kSemaphores.size())];
  if (dice_.chance(10)) return remove(name);
  set(name, static_cast<std::int32_t>(dice_.chance(15) ? 0 : 1 + dice_.below(4)), Set::Once);
}

void SemaphoreOperator::set(const std::string& name, std::int32_t count, Set how) {
  ask_(
      [name, count](Token token) -> master::core::Event {
        return master::core::SetSemaphore{token, "sim", "default", name, count, {}};
      },
      [this, name, count, how](const ReplyBody& body) {
        const auto* applied = std::get_if<SemaphoreApplied>(&body);
        if (applied == nullptr) {
          const bool again = how == Set::AtTheEnd || (how == Set::UntilDone && !stopped_);
          if (again) world_.after(300ms, [this, name, count, how] { set(name, count, how); });
          return;
        }
        if (how == Set::AtTheEnd) --open_;
        world_.trace("semaphore", name + " v" + std::to_string(applied->version) + " " + std::to_string(count));
        if (!applied->created && applied->changed) world_.marks.hit("semaphore_changed");
        if (count == 0) world_.marks.hit("semaphore_closed");
        const bool is_stored = world_.store.tables().semaphores.contains({"default", name, applied->version});
        if (!is_stored && !world_.store.went_back()) world_.violate("P10: an acknowledged semaphore is not stored");
      });
}

void SemaphoreOperator::remove(const std::string& name) {
  ask_(
      [name](Token token) -> master::core::Event {
        return master::core::DeleteSemaphore{token, "sim", "default", name};
      },
      [this](const ReplyBody& body) {
        if (std::holds_alternative<SemaphoreApplied>(body)) world_.marks.hit("semaphore_deleted");
        const auto* error = std::get_if<Error>(&body);
        if (error != nullptr && error->code == ErrorCode::Conflict) world_.marks.hit("semaphore_in_use_not_deleted");
      });
}

void SemaphoreOperator::stop() {
  stopped_ = true;
  if (is_idle_) return;
  for (const char* name : kSemaphores) {
    ++open_;
    set(name, 4, Set::AtTheEnd);
  }
}

}  // namespace rota::sim
