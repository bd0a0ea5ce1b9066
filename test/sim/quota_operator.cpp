#include "quota_operator.h"

#include "world.h"

namespace rota::sim {

using master::core::QuotaApplied;
using master::core::ReplyBody;
using master::core::SetQuota;
using std::chrono_literals::operator""ms;

namespace {

constexpr int kQuotaPercent = 35;                 ///< of the worlds have limits
constexpr std::uint64_t kQuotaStream = 47;

}  // namespace

QuotaOperator::QuotaOperator(World& world, Ask ask)
    : world_(world), dice_(world.recipe.seed, kQuotaStream), times_(world.recipe.seed, kQuotaStream + 1000), is_idle_(!dice_.chance(kQuotaPercent)), ask_(std::move(ask)) {}

void QuotaOperator::begin() {
  if (!is_idle_) world_.after(dice_.between(500ms, 4000ms), [this] { act(); });
}

void QuotaOperator::act() {
  if (stopped_) return;
  world_.after(dice_.between(700ms, 6000ms), [this] { act(); });
  SetQuota event;
  event.name = "default";
  const auto limit = [this](std::int64_t most) { return dice_.chance(25) ? model::kNoLimit : static_cast<std::int64_t>(dice_.below(most)); };
  if (dice_.chance(40)) {
    event.slots = limit(4);
    return set(event, false);
  }
  event.of = model::QuotaOf::Space;
  if (dice_.chance(40)) event.slots = limit(5);
  if (dice_.chance(40)) event.unfinished = limit(12);
  if (dice_.chance(40)) event.firings = limit(20);
  event.weight = static_cast<std::int64_t>(1 + dice_.below(3));
  const auto time = [this](Millis most) { return times_.chance(40) ? Millis{0} : times_.between(800ms, most); };
  if (times_.chance(50)) event.timeout = time(6000ms);
  if (times_.chance(50)) event.run_timeout = time(9000ms);
  if (times_.chance(50)) event.queue_timeout = time(6000ms);
  set(event, false);
}

void QuotaOperator::set(SetQuota event, bool is_last) {
  event.principal = "sim";
  ask_(
      [event](Token token) -> master::core::Event {
        SetQuota asked = event;
        asked.token = token;
        return asked;
      },
      [this, event, is_last](const ReplyBody& body) {
        const auto* applied = std::get_if<QuotaApplied>(&body);
        if (applied == nullptr) {
          if (is_last) world_.after(300ms, [this, event] { set(event, true); });
          return;
        }
        if (is_last) --open_;
        world_.trace("limits", event.name + " v" + std::to_string(applied->version));
        if (applied->changed) world_.marks.hit("limits_changed");
        const bool is_stored =
            applied->version == 0 || world_.store.tables().quotas.contains({event.of, event.name, applied->version});
        if (!is_stored && !world_.store.went_back()) world_.violate("P10: acknowledged limits are not stored");
      });
}

void QuotaOperator::stop() {
  stopped_ = true;
  if (is_idle_) return;
  SetQuota open;
  open.name = "default";
  open.slots = model::kNoLimit;
  open_ = 2;
  set(open, true);
  open.of = model::QuotaOf::Space;
  open.unfinished = open.firings = model::kNoLimit;
  open.timeout = open.run_timeout = open.queue_timeout = 0ms;
  set(open, true);
}

}  // namespace rota::sim
