#include "sim_storing.h"

#include <utility>

#include "world.h"

namespace rota::sim {

using master::core::Changes;
using master::store::ApplyOutcome;
using master::store::ApplyResult;
using std::chrono_literals::operator""ms;

namespace {

std::size_t rows_in(const Changes& c) {
  return c.jobs.size() + c.versions.size() + c.new_runs.size() + c.updated_runs.size() + c.attempts.size() +
         c.notes.size() + c.gaps.size() + c.lives.size() + c.drains.size() + c.deaths.size() +
         c.holds.size();
}

/// What was prepared, so that it can be told whether that is what is stored.
class SimPrepared final : public master::store::PreparedRows {
 public:
  explicit SimPrepared(const Changes& changes) : of_(&changes), rows_(rows_in(changes)) {}
  bool is_still(const Changes& changes) const { return of_ == &changes && rows_ == rows_in(changes); }

 private:
  const Changes* of_;
  std::size_t rows_;
};

}  // namespace

std::unique_ptr<master::store::PreparedRows> SimStoring::prepare(const Changes& changes) {
  if (!has_written()) world_.violate("a batch is prepared though the database is busy with the rows before");
  has_prepared_ = true;
  return std::make_unique<SimPrepared>(changes);
}

void SimStoring::begin(Epoch epoch, const Changes& changes, std::unique_ptr<master::store::PreparedRows> rows) {
  if (has_prepared_ != (rows != nullptr)) world_.violate("P1: another batch is stored than the one prepared");
  if (rows && !static_cast<const SimPrepared&>(*rows).is_still(changes)) {
    world_.violate("P1: a batch was changed after it was prepared");
  }
  has_prepared_ = false;
  result_.reset();
  flight_ = std::make_shared<Flight>(Flight{epoch, &changes});
  world_.after(world_.random.between(0ms, 15ms), [this, flight = flight_] { write(flight); });
}

/// The database has the rows; its COMMIT comes later.
void SimStoring::write(const std::shared_ptr<Flight>& flight) {
  if (flight->is_over) return;
  flight->is_written = true;
  news_();
  world_.after(world_.random.between(0ms, 15ms), [this, flight] {
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
  if (has_prepared_ && result.outcome != ApplyOutcome::Applied) world_.marks.hit("failed_before_prepared_batch");
  result_ = std::move(result);
  news_();
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
  if (has_prepared_) world_.marks.hit("crash_with_prepared_batch");
  if (!flight_->is_over && world_.random.chance(50)) (void)apply(*flight_);
  forget();
  result_ = ApplyResult{ApplyOutcome::Unknown, "the leader died", {}};
}

void SimStoring::forget() {
  if (!flight_) return;
  flight_->is_over = flight_->is_forgotten = true;
}

}  // namespace rota::sim
