// Builders for what core tests speak of: a_job().every(5s).build().
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/model/job.h"
#include "common/model/worker.h"
#include "master/core/event.h"

namespace rota::test {

using namespace std::chrono_literals;

class JobBuilder {
 public:
  explicit JobBuilder(std::string name) { definition_.name = std::move(name); }

  JobBuilder& named(std::string name) { definition_.name = std::move(name); return *this; }
  JobBuilder& space(std::string space) { definition_.space = std::move(space); return *this; }
  JobBuilder& priority(std::int32_t n) { definition_.rules.priority = n; return *this; }
  JobBuilder& every(Millis interval) {
    definition_.rules.schedule.kind = model::ScheduleKind::FixedRate;
    definition_.rules.schedule.interval = interval;
    return *this;
  }
  JobBuilder& once_at(WallTime at) {
    definition_.rules.schedule.kind = model::ScheduleKind::Once;
    definition_.rules.schedule.start = at;
    return *this;
  }
  JobBuilder& cron(std::string text) {
    definition_.rules.schedule.kind = model::ScheduleKind::Cron;
    definition_.rules.schedule.cron = std::move(text);
    return *this;
  }
  JobBuilder& entries(std::vector<std::string> lines) {
    definition_.rules.schedule.kind = model::ScheduleKind::Entries;
    definition_.rules.schedule.entries = std::move(lines);
    return *this;
  }
  JobBuilder& firings(std::int32_t n) { definition_.rules.firings = n; return *this; }
  JobBuilder& until_success() { definition_.rules.until = model::Until::Success; return *this; }
  JobBuilder& pausing_after(std::int32_t failures) {
    definition_.rules.pause_after_failures = failures;
    return *this;
  }
  JobBuilder& starting(WallTime at) { definition_.rules.schedule.start = at; return *this; }
  JobBuilder& overlap(model::Overlap overlap) { definition_.rules.overlap = overlap; return *this; }
  JobBuilder& concurrency(std::int32_t n) { definition_.rules.concurrency = n; return *this; }
  JobBuilder& kill_grace(Millis grace) { definition_.rules.kill_grace = grace; return *this; }
  JobBuilder& queue_limit(std::int32_t n) { definition_.rules.queue_limit = n; return *this; }
  JobBuilder& late(model::LatePolicy late) { definition_.rules.late = late; return *this; }
  JobBuilder& grace(Millis grace) { definition_.rules.tick_grace = grace; return *this; }
  JobBuilder& pool(std::string pool) { definition_.rules.pool = std::move(pool); return *this; }
  JobBuilder& round_robin() { definition_.rules.route = model::RouteKind::RoundRobin; return *this; }
  JobBuilder& route(model::RouteKind route, std::string key = {}) {
    definition_.rules.route = route;
    definition_.rules.route_key = std::move(key);
    return *this;
  }
  JobBuilder& select(std::map<std::string, std::string> labels) {
    definition_.rules.select = std::move(labels);
    return *this;
  }
  JobBuilder& prefer(std::map<std::string, std::string> labels, Millis for_long) {
    definition_.rules.prefer = std::move(labels);
    definition_.rules.prefer_for = for_long;
    return *this;
  }
  JobBuilder& on_worker(std::string id) {
    definition_.rules.route = model::RouteKind::Named;
    definition_.rules.worker = std::move(id);
    return *this;
  }
  JobBuilder& handler(std::string name) { definition_.work.handler = std::move(name); return *this; }
  JobBuilder& retries(std::int32_t count, Millis delay = 1s, double factor = 2.0) {
    definition_.rules.retry.count = count;
    definition_.rules.retry.delay = delay;
    definition_.rules.retry.factor = factor;
    return *this;
  }
  JobBuilder& retry(model::RetryRule rule) { definition_.rules.retry = std::move(rule); return *this; }
  JobBuilder& uses(std::map<std::string, std::int32_t> tokens) {
    definition_.rules.uses = std::move(tokens);
    return *this;
  }
  JobBuilder& on_success(std::vector<std::string> names) {
    definition_.rules.on_success = std::move(names);
    return *this;
  }
  JobBuilder& on_failure(std::vector<std::string> names) {
    definition_.rules.on_failure = std::move(names);
    return *this;
  }
  JobBuilder& on_end(std::vector<std::string> names) {
    definition_.rules.on_end = std::move(names);
    return *this;
  }
  JobBuilder& takes(std::int32_t slots, model::Amounts needs = {}) {
    definition_.rules.slots = slots;
    definition_.rules.needs = std::move(needs);
    return *this;
  }
  JobBuilder& notify(std::vector<std::string> names) {
    definition_.rules.notify = std::move(names);
    return *this;
  }
  JobBuilder& expect_start(Millis within) {
    definition_.rules.expect_start_within = within;
    return *this;
  }
  JobBuilder& expect_finish(std::string by) {
    definition_.rules.expect_finish_by = std::move(by);
    return *this;
  }
  JobBuilder& expect_longer(std::string than) {
    definition_.rules.expect_longer_than = std::move(than);
    return *this;
  }
  JobBuilder& timeout(Millis timeout) { definition_.rules.timeout = timeout; return *this; }
  JobBuilder& run_timeout(Millis timeout) { definition_.rules.run_timeout = timeout; return *this; }
  JobBuilder& queue_timeout(Millis timeout) { definition_.rules.queue_timeout = timeout; return *this; }
  JobBuilder& never_again() { definition_.rules.loss = model::LossPolicy::Never; return *this; }
  JobBuilder& losses(std::int32_t most) { definition_.rules.loss_most = most; return *this; }
  JobBuilder& confirmed() { definition_.rules.loss = model::LossPolicy::Confirm; return *this; }
  JobBuilder& disconnect_grace(Millis g) { definition_.rules.disconnect_grace = g; return *this; }
  JobBuilder& described(std::string text) { definition_.description = std::move(text); return *this; }

  std::shared_ptr<const model::JobDefinition> build() const {
    return std::make_shared<const model::JobDefinition>(definition_);
  }

 private:
  model::JobDefinition definition_;
};

inline JobBuilder a_job(std::string name = "j") { return JobBuilder(std::move(name)); }

inline model::WorkerInfo a_worker(std::string id, std::int32_t slots = 4,
                                  std::string incarnation = "i1") {
  model::WorkerInfo info;
  info.key = {std::move(id), std::move(incarnation)};
  info.address = {"127.0.0.1", 7000};
  info.slots = slots;
  info.offers.emplace();
  return info;
}

inline model::WorkerInfo a_worker_with(std::string id, std::int32_t slots, model::Amounts offers,
                                       std::string incarnation = "i1") {
  model::WorkerInfo info = a_worker(std::move(id), slots, std::move(incarnation));
  info.offers = std::move(offers);
  return info;
}

inline model::Outcome ended_as(model::RunState state) {
  model::Outcome outcome;
  outcome.state = state;
  outcome.reason = state == model::RunState::Succeeded ? model::Reason::None
                                                       : model::Reason::ExitStatus;
  outcome.exit_status = state == model::RunState::Succeeded ? 0 : 1;
  return outcome;
}

}  // namespace rota::test
