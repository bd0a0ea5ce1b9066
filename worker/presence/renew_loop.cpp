#include "worker/presence/renew_loop.h"

#include "common/base/log.h"
#include "common/wire/run_wire.h"
#include "common/wire/worker_wire.h"

namespace rota::worker::presence {

namespace {

void put_figures(thrift::RenewRequest& request, const Figures& figures) {
  if (!figures.vitals) return;
  request.__set_vitals(wire::to_wire(*figures.vitals));
  request.__set_vitals_age_ms(figures.vitals_age.count());
  std::vector<thrift::AttemptUsage> usage;
  for (const Figures::OfAttempt& each : figures.attempts) {
    usage.push_back(wire::to_wire(each.usage));
    usage.back().usage.__set_age_ms(each.age.count());
  }
  request.__set_usage(std::move(usage));
  if (figures.has_part_of_attempts) request.__set_has_part_of_usage(true);
}

}  // namespace

RenewLoop::RenewLoop(RenewOptions options, RenewParts parts, const desk::LeaderAddress& leader)
    : options_(options), parts_(std::move(parts)), leader_(leader), channel_(leader) {}

RenewLoop::~RenewLoop() { stop(); }

void RenewLoop::start() {
  thread_ = std::jthread([this](std::stop_token stop) { loop(stop); });
}

void RenewLoop::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

std::optional<LastRenewal> RenewLoop::last() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

void RenewLoop::loop(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const desk::KnownLeader known = leader_.get();
    bool is_vouched = false;
    if (known.address.port != 0 && parts_.may_renew()) is_vouched = renew(known);
    // A new leader's hello ends the wait.
    leader_.wait_other_than(known, is_vouched ? options_.every : options_.retry, stop);
  }
}

bool RenewLoop::renew(const desk::KnownLeader& known) {
  thrift::RenewRequest request;
  request.__set_worker(wire::to_wire(parts_.life()));
  if (parts_.figures) put_figures(request, parts_.figures());
  request.__set_clock_ms(to_ms(SystemClock().wall()));
  const MonoTime sent = BootClock::now();
  const auto answer = channel_.call(
      [&](thrift::ReportServiceClient& leader) { leader.renew(request); }, options_.rpc_deadline);
  if (!answer) {
    log_debug("presence", "the leader does not vouch", {{"why", answer.error().error.message}});
    return false;
  }
  parts_.vouched(sent, known.grant);
  const std::scoped_lock lock(mutex_);
  last_ = {known.epoch, sent};
  return true;
}

}  // namespace rota::worker::presence
