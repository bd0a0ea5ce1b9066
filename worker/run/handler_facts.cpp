#include "worker/run/handler_facts.h"

#include <charconv>

#include "common/base/base64.h"

namespace rota::worker::run {

namespace {

constexpr std::string_view kFormat = "rota-facts 1";

void put(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(" ").append(base64_of(value)).append("\n");
}

void put_number(std::string& out, std::string_view name, std::int64_t value) {
  put(out, name, std::to_string(value));
}

std::int64_t number_in(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void set_fact(sdk::RunFacts& facts, std::string_view name, std::string value) {
  if (name == "run") facts.run = number_in(value);
  if (name == "attempt") facts.attempt = static_cast<std::int32_t>(number_in(value));
  if (name == "epoch") facts.epoch = number_in(value);
  if (name == "job") facts.job = number_in(value);
  if (name == "tick_ms") facts.tick = wall_from_ms(number_in(value));
  if (name == "scheduled_ms") facts.scheduled = wall_from_ms(number_in(value));
  if (name == "job_name") facts.job_name = std::move(value);
  if (name == "space") facts.space = std::move(value);
  if (name == "kind") facts.kind = std::move(value);
  if (name == "worker") facts.worker = std::move(value);
  if (name == "incarnation") facts.incarnation = std::move(value);
}

void set_fact(sdk::LockAddress& locks, std::string_view name, std::string value) {
  if (name == "lock_servers") locks.servers = std::move(value);
  if (name == "lock_cluster") locks.cluster = std::move(value);
  if (name == "lock_session_ms") locks.session_timeout = Millis{number_in(value)};
}

}  // namespace

sdk::RunFacts facts_of(const desk::Order& order, Epoch epoch, const model::WorkerKey& life) {
  sdk::RunFacts facts;
  facts.run = order.key.run.value;
  facts.attempt = order.key.attempt;
  facts.epoch = epoch.value;
  facts.job = order.job.value;
  facts.job_name = order.job_name;
  facts.space = order.space;
  facts.kind = order.kind;
  facts.tick = order.tick;
  facts.scheduled = order.scheduled;
  facts.worker = life.id;
  facts.incarnation = life.incarnation;
  facts.parameters = order.parameters;
  return facts;
}

std::string encode_brief(const HandlerBrief& brief) {
  const sdk::RunFacts& facts = brief.facts;
  std::string out = std::string(kFormat) + "\n";
  put_number(out, "run", facts.run);
  put_number(out, "attempt", facts.attempt);
  put_number(out, "epoch", facts.epoch);
  put_number(out, "job", facts.job);
  if (facts.tick) put_number(out, "tick_ms", to_ms(*facts.tick));
  put_number(out, "scheduled_ms", to_ms(facts.scheduled));
  put(out, "job_name", facts.job_name);
  put(out, "space", facts.space);
  put(out, "kind", facts.kind);
  put(out, "worker", facts.worker);
  put(out, "incarnation", facts.incarnation);
  put(out, "lock_servers", brief.locks.servers);
  put(out, "lock_cluster", brief.locks.cluster);
  put_number(out, "lock_session_ms", brief.locks.session_timeout.count());
  for (const auto& [name, value] : facts.parameters) {
    put(out, "parameter_name", name);
    put(out, "parameter_value", value);
  }
  return out;
}

Result<HandlerBrief> decode_brief(std::string_view text) {
  const auto broken = [] { return fail(ErrorCode::Corrupt, "the file of a run's facts is damaged"); };
  HandlerBrief brief;
  sdk::RunFacts& facts = brief.facts;
  std::string parameter;
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return broken();
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (std::exchange(is_first, false)) {
      if (line != kFormat) return broken();
      continue;
    }
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return broken();
    auto value = from_base64(line.substr(space + 1));
    if (!value) return broken();
    const std::string_view name = line.substr(0, space);
    if (name == "parameter_name") parameter = *value;
    if (name == "parameter_value") facts.parameters[parameter] = *value;
    if (name.starts_with("lock_")) {
      set_fact(brief.locks, name, std::move(*value));
    } else {
      set_fact(facts, name, std::move(*value));
    }
  }
  if (is_first || facts.run == 0) return broken();
  return brief;
}

}  // namespace rota::worker::run
