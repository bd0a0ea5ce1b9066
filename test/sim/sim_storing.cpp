#include "sim_storing.h"

#include <utility>

#include "world.h"

namespace rota::sim {

using master::store::ApplyOutcome;
using master::store::ApplyResult;
using std::chrono_literals::operator""ms;

void SimStoring::begin(Epoch epoch, const master::core::Changes& changes) {
  result_.reset();
  flight_ = std::make_shared<Flight>(Flight{epoch, &changes});
  world_.after(world_.random.between(0ms, 30ms), [this, flight = flight_] {
    if (flight->is_over) return;
    ApplyResult result = apply(*flight);
    const Millis latency = std::exchange(world_.store.latency, 0ms);
    world_.after(latency, [this, flight, result = std::move(result)] {
      if (!flight->is_forgotten) answer(flight, result);
    });
  });
}

ApplyResult SimStoring::apply(Flight& flight) {
  flight.is_over = true;
  world_.store.latency = world_.store.caller_freezes = 0ms;
  ApplyResult result = world_.store.apply(flight.epoch, *flight.changes);
  world_.violate(world_.store.violation);
  if (const Millis frozen = std::exchange(world_.store.caller_freezes, 0ms); frozen > 0ms) freeze_(frozen);
  return result;
}

void SimStoring::answer(const std::shared_ptr<Flight>& flight, ApplyResult result) {
  flight->is_forgotten = true;
  result_ = std::move(result);
  done_();
}

std::optional<ApplyResult> SimStoring::receive() { return std::exchange(result_, std::nullopt); }

/// The leader gives up its office: it waits for the answer, and no time passes here.
void SimStoring::wait(Micros, std::stop_token) {
  if (result_ || !flight_ || flight_->is_forgotten) return;
  const bool is_lost = flight_->is_over;  // the answer is on its way; it does not wait so long
  flight_->is_forgotten = true;
  result_ = is_lost ? ApplyResult{ApplyOutcome::Unknown, "the answer was not waited for", {}} : apply(*flight_);
  world_.store.latency = 0ms;
}

void SimStoring::crash() {
  if (!flight_ || flight_->is_forgotten) return;
  world_.marks.hit("crash_while_storing");
  if (!flight_->is_over && world_.random.chance(50)) (void)apply(*flight_);
  forget();
  result_ = ApplyResult{ApplyOutcome::Unknown, "the leader died", {}};
}

void SimStoring::forget() {
  if (!flight_) return;
  flight_->is_over = flight_->is_forgotten = true;
}

}  // namespace rota::sim
