// The methods about workers: drain, resume, forget, confirm a death, list lives.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/utf8.h"
#include "common/wire/run_wire.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"
#include "master/api/life_rules.h"

namespace rota::master::api {
namespace {

constexpr std::int32_t kMostLives = 1000;
constexpr std::int64_t kLongestDrainMs = 30ll * 24 * 3600 * 1000;

Result<void> check_drain(const std::string& worker, std::int64_t deadline_ms) {
  if (worker.empty() || worker.size() > 128) {
    return fail(ErrorCode::InvalidArgument, "worker: give the id of a worker, at most 128 bytes");
  }
  if (deadline_ms < 0 || deadline_ms > kLongestDrainMs) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("deadline_ms: {} is not between 0 and 30 days", deadline_ms));
  }
  return {};
}

std::string death_text(const model::WorkerDeath& death) {
  std::string out = "; confirmed dead by " + death.principal;
  if (!death.why.empty()) out += ": " + death.why;
  return death.came_back ? out + ", and came back" : out;
}

}  // namespace

thrift::DrainAnswer JobServiceHandler::drain_here(const Caller& caller, core::DrainWorker event,
                                                  MonoTime deadline) {
  event.principal = caller.principal;
  const auto reply = value_or_throw(desk_.ask(std::move(event), deadline));
  const auto* taken = std::get_if<core::DrainTaken>(&reply);
  if (taken == nullptr) {
    throw rpc::to_wire(unexpected_reply());
  }
  thrift::DrainAnswer out;
  out.__set_changed(taken->changed);
  out.__set_running(taken->running);
  return out;
}

void JobServiceHandler::drain_worker(const Caller& caller, thrift::DrainAnswer& out,
                                     const Head& head, const std::string& worker,
                                     std::int64_t deadline_ms, const std::string& why) {
  const MonoTime deadline = deadline_of(head);
  value_or_throw(check_drain(worker, deadline_ms));
  if (desk_.leads()) {
    const std::string kept(cut_text(why, kMaxWhyBytes));
    out = drain_here(caller, {{}, {}, worker, true, Millis{deadline_ms}, kept}, deadline);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::DrainAnswer answer;
    client.drain_worker(answer, onward, worker, deadline_ms, why);
    return answer;
  }));
}

void JobServiceHandler::resume_worker(const Caller& caller, thrift::DrainAnswer& out,
                                      const Head& head, const std::string& worker,
                                      const std::string& why) {
  const MonoTime deadline = deadline_of(head);
  value_or_throw(check_drain(worker, 0));
  if (desk_.leads()) {
    const std::string kept(cut_text(why, kMaxWhyBytes));
    out = drain_here(caller, {{}, {}, worker, false, Millis{0}, kept}, deadline);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::DrainAnswer answer;
    client.resume_worker(answer, onward, worker, why);
    return answer;
  }));
}

void JobServiceHandler::forget_worker(const Caller& caller, const Head& head,
                                      const std::string& worker) {
  const MonoTime deadline = deadline_of(head);
  value_or_throw(check_drain(worker, 0));
  if (desk_.leads()) {
    const auto reply = value_or_throw(desk_.ask(core::ForgetWorker{{}, caller.principal, worker}, deadline));
    if (std::holds_alternative<core::WorkerForgotten>(reply)) return;
    throw rpc::to_wire(unexpected_reply());
  }
  value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    client.forget_worker(onward, worker);
    return true;
  }));
}

/// A name that no worker ever had is a typing error, so it is not found.
thrift::DeathAnswer JobServiceHandler::confirm_here(const Caller& caller, core::ConfirmDead event,
                                                    MonoTime deadline) {
  const std::string worker = event.worker;
  event.principal = caller.principal;
  const auto reply = value_or_throw(desk_.ask(std::move(event), deadline));
  const auto* taken = std::get_if<core::DeathTaken>(&reply);
  if (taken == nullptr) {
    throw rpc::to_wire(unexpected_reply());
  }
  if (taken->runs.empty() && value_or_throw(parts_.reader.lives_of(worker, 1)).empty()) {
    throw rpc::to_wire(Error(ErrorCode::NotFound, "no worker '" + shown_text(worker) + "' was ever here"));
  }
  thrift::DeathAnswer out;
  out.__set_changed(taken->changed);
  std::vector<thrift::DeathRun> runs;
  for (const core::DeathTaken::Run& run : taken->runs) {
    thrift::DeathRun& row = runs.emplace_back();
    row.__set_run(run.run.value);
    row.__set_job_name(run.job);
    row.__set_attempt(run.attempt);
    row.__set_asks(run.asks);
    row.__set_begins_again(run.begins_again);
    row.__set_after_ms(run.after.count());
  }
  out.__set_runs(std::move(runs));
  return out;
}

void JobServiceHandler::confirm_dead(const Caller& caller, thrift::DeathAnswer& out,
                                     const Head& head, const std::string& worker,
                                     const std::string& why, bool dry_run) {
  const MonoTime deadline = deadline_of(head);
  value_or_throw(check_drain(worker, 0));
  if (desk_.leads()) {
    const std::string kept(cut_text(why, kMaxWhyBytes));
    out = confirm_here(caller, {{}, {}, worker, kept, dry_run}, deadline);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::DeathAnswer answer;
    client.confirm_dead(answer, onward, worker, why, dry_run);
    return answer;
  }));
}

void JobServiceHandler::list_lives(const Caller&, std::vector<thrift::WorkerLife>& out, const Head&,
                                   const std::string& worker, std::int32_t limit) {
  value_or_throw(check_drain(worker, 0));
  auto lives = lives_of_processes(value_or_throw(parts_.reader.lives_of(worker, kMostLives)),
                                  parts_.leader.snapshot().get());
  lives.resize(std::min(lives.size(), static_cast<std::size_t>(std::clamp(limit, 1, kMostLives))));
  std::map<model::WorkerKey, model::WorkerDeath> deaths;
  for (auto& death : value_or_throw(parts_.reader.deaths_of(worker))) deaths[death.life] = std::move(death);
  for (const core::WorkerLife& life : lives) {
    thrift::WorkerLife row;
    row.__set_key(wire::to_wire(life.key));
    row.__set_host(life.address.host);
    row.__set_port(life.address.port);
    row.__set_pool(life.pool);
    row.__set_joined_ms(to_ms(life.joined));
    if (life.left) row.__set_left_ms(to_ms(*life.left));
    const auto death = deaths.find(life.key);
    row.__set_why_left(life.why_left + (death == deaths.end() ? "" : death_text(death->second)));
    out.push_back(std::move(row));
  }
}

}  // namespace rota::master::api
