#include "sim_receivers.h"

#include "world.h"

namespace rota::sim {

using std::chrono_literals::operator""ms;

namespace {

constexpr std::uint64_t kReceiverStream = 44;
constexpr int kReceiverPercent = 50;  ///< of the worlds have receivers
constexpr Millis kHangs{10'000};      ///< a master's timeout

}  // namespace

SimReceivers::SimReceivers(World& world) : world_(world), dice_(world.recipe.seed, kReceiverStream) {
  if (!dice_.chance(kReceiverPercent)) return;
  std::set<model::Happening> all;
  for (std::size_t i = 0; i < model::kWantedHappenings; ++i) all.insert(static_cast<model::Happening>(i));
  rules_.push_back({"ops", all, true});
  if (dice_.chance(50)) rules_.push_back({"dba", {model::Happening::Failed}, false});
}

void SimReceivers::draw(model::JobRules& rules) {
  rules.notify.clear();
  if (rules_.empty()) return;
  if (dice_.chance(10)) rules.notify = {std::string(model::kNobody)};
  if (rules_.size() > 1 && dice_.chance(20)) rules.notify = {"dba"};
}

void SimReceivers::send(const model::Notification& row, std::function<void(const std::string&)> tried) {
  const bool is_healed = world_.is_healed();
  const bool hangs = !is_healed && dice_.chance(5);
  const bool refuses = !is_healed && dice_.chance(30);
  const bool is_deaf = !is_healed && dice_.chance(10);  // its answer is lost
  const Millis takes = hangs ? kHangs : dice_.between(5ms, 800ms);
  world_.after(takes / 2, [this, row, refuses, hangs] {
    if (std::string wrong = world_.store.judge_sent(row); !wrong.empty()) world_.violate(wrong);
    if (!refuses && !hangs) world_.store.note_heard(row.id);
  });
  const bool is_accepted = !hangs && !refuses && !is_deaf;
  world_.after(takes, [is_accepted, tried = std::move(tried)] { tried(is_accepted ? "" : "refused"); });
}

/// Like production: a try that ends in a later Term of this master's is told there.
void SimMaster::send_notification(const model::Notification& row) {
  world_.after(world_.store.latency, [this, row, life = life_] {
    if (life != life_ || !alive_) return;
    world_.receivers.send(row, [this, id = row.id, life](const std::string& error) {
      if (life == life_ && alive_) (void)post(master::core::NotificationTried{id, error.empty(), error});
    });
  });
}

void SimMaster::call_hook(const model::ScaleChange& row) {
  world_.after(world_.store.latency, [this, row, life = life_] {
    if (life != life_ || !alive_) return;
    world_.hooks.call(row, [this, pool = row.pool, id = row.id, life](const std::string& error) {
      if (life == life_ && alive_) (void)post(master::core::HookCalled{pool, id, error.empty(), error});
    });
  });
}

}  // namespace rota::sim
