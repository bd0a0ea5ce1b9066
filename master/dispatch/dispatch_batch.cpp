#include "master/dispatch/dispatch_batch.h"

#include <map>

#include "common/wire/job_wire.h"
#include "common/wire/worker_wire.h"

namespace rota::master::dispatch {
namespace {

using Kind = core::DispatchVerdict::Kind;

model::Parameters merged(const model::JobWork& work, const model::Parameters* own) {
  if (own == nullptr) return work.parameters;
  model::Parameters out = *own;
  out.insert(work.parameters.begin(), work.parameters.end());
  return out;
}

std::size_t sent_weight_of(const std::map<std::string, std::string>& texts) {
  std::size_t sum = 0;
  for (const auto& [key, value] : texts) sum += key.size() + value.size() + 8;
  return sum;
}

model::Refusal refusal_in(const rpc::CallError& error) {
  if (!error.answered) return model::Refusal::None;
  switch (error.error.code) {
    case ErrorCode::Fenced: return model::Refusal::OldEpoch;
    case ErrorCode::Conflict: return model::Refusal::WrongLife;
    case ErrorCode::Overloaded: return model::Refusal::NoSlot;
    case ErrorCode::InvalidArgument: return model::Refusal::Malformed;
    default: return model::Refusal::None;
  }
}

}  // namespace

thrift::DispatchItem make_item(const core::DispatchItem& item,
                               const model::JobDefinition& definition) {
  thrift::DispatchItem out;
  out.__set_attempt(wire::to_wire(item.attempt));
  out.__set_job(item.job.value);
  out.__set_job_version(item.version);
  out.__set_job_name(definition.name);
  out.__set_space(definition.space);
  out.__set_kind(std::string(model::name_of(item.kind)));
  if (item.tick) out.__set_tick_ms(to_ms(*item.tick));
  out.__set_scheduled_ms(to_ms(item.scheduled));
  out.__set_timeout_ms(item.timeout.count());
  out.__set_kill_grace_ms(item.kill_grace.count());
  out.__set_disconnect_grace_ms(item.disconnect_grace.count());
  out.__set_work(wire::to_wire(definition.work));
  out.work.parameters.clear();  // they go once, merged
  out.__set_parameters(merged(definition.work, item.parameters.get()));
  return out;
}

std::size_t weight_of(const thrift::DispatchItem& item) {
  const thrift::Work& work = item.work;
  std::size_t sum = 256 + item.job_name.size() + item.space.size() + work.handler.size() +
                    work.script.size() + work.interpreter.size() + work.folder.size() +
                    sent_weight_of(work.environment) + sent_weight_of(item.parameters) +
                    item.checkpoint.size();
  for (const std::string& argument : work.argv) sum += argument.size() + 4;
  return sum;
}

std::vector<std::vector<thrift::DispatchItem>> split(std::vector<thrift::DispatchItem> items,
                                                     std::size_t most_items,
                                                     std::size_t most_bytes) {
  std::vector<std::vector<thrift::DispatchItem>> out;
  std::size_t bytes = 0;
  for (thrift::DispatchItem& item : items) {
    const std::size_t weight = weight_of(item);
    if (out.empty() || out.back().size() >= most_items || bytes + weight > most_bytes) {
      out.emplace_back();
      bytes = 0;
    }
    bytes += weight;
    out.back().push_back(std::move(item));
  }
  return out;
}

std::vector<core::DispatchVerdict> read_answers(
    const std::vector<thrift::DispatchItem>& items,
    const std::vector<thrift::DispatchAnswer>& answers) {
  std::map<model::AttemptKey, const thrift::DispatchAnswer*> by_attempt;
  for (const auto& answer : answers) by_attempt[wire::from_wire(answer.attempt)] = &answer;
  std::vector<core::DispatchVerdict> out;
  out.reserve(items.size());
  for (const thrift::DispatchItem& item : items) {
    core::DispatchVerdict verdict;
    verdict.attempt = wire::from_wire(item.attempt);
    const auto found = by_attempt.find(verdict.attempt);
    if (found == by_attempt.end()) {
      verdict.detail = "the worker's answer left it out";
    } else {
      verdict.refusal = wire::refusal_of(*found->second);
      verdict.kind = found->second->accepted ? Kind::Accepted : Kind::Refused;
      verdict.detail = found->second->detail;
    }
    out.push_back(std::move(verdict));
  }
  return out;
}

std::vector<core::DispatchVerdict> verdicts_of_failure(
    const std::vector<thrift::DispatchItem>& items, const rpc::CallError& error) {
  const model::Refusal refusal = refusal_in(error);
  const Kind kind = refusal == model::Refusal::None ? Kind::Unknown : Kind::Refused;
  std::vector<core::DispatchVerdict> out;
  out.reserve(items.size());
  for (const thrift::DispatchItem& item : items) {
    out.push_back({wire::from_wire(item.attempt), kind, refusal, error.error.message});
  }
  return out;
}

}  // namespace rota::master::dispatch
