#include "common/wire/definition_json.h"

#include <nlohmann/json.hpp>

#include "common/wire/job_names.h"

namespace rota::wire {
namespace {

using nlohmann::json;

/// What a reader of this file throws for a value that it can not take; caught in `parsed` below.
struct UnreadableValue {
  std::string message;
};

template <typename Enum>
void take(const json& object, const char* field, Enum& into)
  requires std::is_enum_v<Enum>
{
  const auto found = object.find(field);
  if (found == object.end()) return;
  const auto& name = found->get_ref<const std::string&>();
  const auto value = named<Enum>(name);
  if (!value) throw UnreadableValue{std::string(field) + " '" + name + "' is not known to this program"};
  into = *value;
}

template <typename Value>
void take(const json& object, const char* field, Value& into)
  requires(!std::is_enum_v<Value>)
{
  const auto found = object.find(field);
  if (found != object.end()) found->get_to(into);
}

void take(const json& object, const char* field, Millis& into) {
  const auto found = object.find(field);
  if (found != object.end()) into = Millis{found->get<std::int64_t>()};
}

void take(const json& object, const char* field, std::optional<WallTime>& into) {
  const auto found = object.find(field);
  if (found != object.end() && !found->is_null()) into = wall_from_ms(found->get<std::int64_t>());
}

/// The object in that field, if there is one; it must be an object.
template <typename Value>
void take_object(const json& from, const char* field, Value& into);

json moment(const std::optional<WallTime>& at) { return at ? json(to_ms(*at)) : json(nullptr); }

json make(const model::Schedule& s) {
  return {{"kind", name_of(s.kind)},      {"cron", s.cron},
          {"dialect", name_of(s.dialect)}, {"time_zone", s.time_zone},
          {"gap", name_of(s.gap)},         {"fold", name_of(s.fold)},
          {"interval_ms", s.interval.count()}, {"start_ms", moment(s.start)},
          {"end_ms", moment(s.end)}};
}

void read(const json& from, model::Schedule& s) {
  take(from, "kind", s.kind);
  take(from, "cron", s.cron);
  take(from, "dialect", s.dialect);
  take(from, "time_zone", s.time_zone);
  take(from, "gap", s.gap);
  take(from, "fold", s.fold);
  take(from, "interval_ms", s.interval);
  take(from, "start_ms", s.start);
  take(from, "end_ms", s.end);
}

json make(const model::RetryRule& r) {
  return {{"count", r.count}, {"delay_ms", r.delay.count()}, {"factor", r.factor},
          {"max_delay_ms", r.max_delay.count()}};
}

void read(const json& from, model::RetryRule& r) {
  take(from, "count", r.count);
  take(from, "delay_ms", r.delay);
  take(from, "factor", r.factor);
  take(from, "max_delay_ms", r.max_delay);
}

/// Programs that do not know "confirm" read "never", and so begin no attempt again without a confirmation.
std::string_view loss_for_all(model::LossPolicy loss) {
  return name_of(loss == model::LossPolicy::Confirm ? model::LossPolicy::Never : loss);
}

json make(const model::JobRules& r) {
  json out = {{"schedule", make(r.schedule)},
              {"overlap", name_of(r.overlap)},
              {"queue_limit", r.queue_limit},
              {"late", name_of(r.late)},
              {"tick_grace_ms", r.tick_grace.count()},
              {"pool", r.pool},
              {"route", name_of(r.route)},
              {"worker", r.worker},
              {"retry", make(r.retry)},
              {"timeout_ms", r.timeout.count()},
              {"kill_grace_ms", r.kill_grace.count()},
              {"loss", loss_for_all(r.loss)},
              {"disconnect_grace_ms", r.disconnect_grace.count()},
              {"keep_logs_ms", r.keep_logs.count()},
              {"keep_runs_ms", r.keep_runs.count()}};
  if (r.loss == model::LossPolicy::Confirm) out["loss_then"] = name_of(r.loss);
  if (r.loss_most != model::kLossMost) out["loss_most"] = r.loss_most;
  return out;
}

void read(const json& from, model::JobRules& r) {
  take_object(from, "schedule", r.schedule);
  take(from, "overlap", r.overlap);
  take(from, "queue_limit", r.queue_limit);
  take(from, "late", r.late);
  take(from, "tick_grace_ms", r.tick_grace);
  take(from, "pool", r.pool);
  take(from, "route", r.route);
  take(from, "worker", r.worker);
  take_object(from, "retry", r.retry);
  take(from, "timeout_ms", r.timeout);
  take(from, "kill_grace_ms", r.kill_grace);
  take(from, "loss", r.loss);
  take(from, "loss_then", r.loss);
  take(from, "loss_most", r.loss_most);
  take(from, "disconnect_grace_ms", r.disconnect_grace);
  take(from, "keep_logs_ms", r.keep_logs);
  take(from, "keep_runs_ms", r.keep_runs);
}

json make(const model::JobLimits& l) {
  return {{"memory_bytes", l.memory_bytes}, {"address_space_bytes", l.address_space_bytes},
          {"processes", l.processes},       {"open_files", l.open_files},
          {"cpu_ms", l.cpu.count()},        {"file_size_bytes", l.file_size_bytes},
          {"folder_bytes", l.folder_bytes}, {"core_bytes", l.core_bytes},
          {"milli_cpus", l.milli_cpus}};
}

void read(const json& from, model::JobLimits& l) {
  take(from, "memory_bytes", l.memory_bytes);
  take(from, "address_space_bytes", l.address_space_bytes);
  take(from, "processes", l.processes);
  take(from, "open_files", l.open_files);
  take(from, "cpu_ms", l.cpu);
  take(from, "file_size_bytes", l.file_size_bytes);
  take(from, "folder_bytes", l.folder_bytes);
  take(from, "core_bytes", l.core_bytes);
  take(from, "milli_cpus", l.milli_cpus);
}

json make(const model::JobWork& w) {
  return {{"handler", w.handler},         {"argv", w.argv},
          {"script", w.script},           {"interpreter", w.interpreter},
          {"environment", w.environment}, {"parameters", w.parameters},
          {"folder", w.folder},           {"output_cap_bytes", w.output_cap_bytes},
          {"limits", make(w.limits)},     {"nice", w.nice},
          {"umask", w.umask},             {"run_as", w.run_as},
          {"keep_folder", name_of(w.keep_folder)},
          {"isolation", name_of(w.isolation)}};
}

void read(const json& from, model::JobWork& w) {
  take(from, "handler", w.handler);
  take(from, "argv", w.argv);
  take(from, "script", w.script);
  take(from, "interpreter", w.interpreter);
  take(from, "environment", w.environment);
  take(from, "parameters", w.parameters);
  take(from, "folder", w.folder);
  take(from, "output_cap_bytes", w.output_cap_bytes);
  take_object(from, "limits", w.limits);
  take(from, "nice", w.nice);
  take(from, "umask", w.umask);
  take(from, "run_as", w.run_as);
  take(from, "keep_folder", w.keep_folder);
  take(from, "isolation", w.isolation);
}

json make(const model::JobDefinition& d) {
  return {{"namespace", d.space}, {"name", d.name},     {"description", d.description},
          {"owner", d.owner},     {"labels", d.labels}, {"rules", make(d.rules)},
          {"work", make(d.work)}};
}

void read(const json& from, model::JobDefinition& d) {
  take(from, "namespace", d.space);
  take(from, "name", d.name);
  take(from, "description", d.description);
  take(from, "owner", d.owner);
  take(from, "labels", d.labels);
  take_object(from, "rules", d.rules);
  take_object(from, "work", d.work);
}

void read(const json& from, std::map<std::string, std::string>& texts) { from.get_to(texts); }

template <typename Value>
void take_object(const json& from, const char* field, Value& into) {
  const auto found = from.find(field);
  if (found == from.end()) return;
  if (!found->is_object()) throw UnreadableValue{std::string(field) + " is no object"};
  read(*found, into);
}

/// The one place where the writer's exceptions end: broken UTF-8 is all that it can complain of.
Result<std::string> dumped(const json& value, const char* what) {
  try {
    return value.dump();
  } catch (const json::exception& error) {
    return fail(ErrorCode::InvalidArgument, std::string(what) + ": " + error.what());
  }
}

/// The one place where the reader's exceptions end.
template <typename Value>
Result<Value> parsed(std::string_view text, const char* what) {
  try {
    const json from = json::parse(text);
    if (!from.is_object()) return fail(ErrorCode::Corrupt, std::string(what) + ": no JSON object");
    Value value;
    read(from, value);
    return value;
  } catch (const UnreadableValue& value) {
    return fail(ErrorCode::Corrupt, std::string(what) + ": " + value.message);
  } catch (const json::exception& error) {
    return fail(ErrorCode::Corrupt, std::string(what) + ": " + error.what());
  }
}

}  // namespace

Result<std::string> definition_to_json(const model::JobDefinition& definition) {
  return dumped(make(definition), "job definition");
}
Result<model::JobDefinition> definition_from_json(std::string_view text) {
  return parsed<model::JobDefinition>(text, "stored job definition");
}
Result<std::string> rules_to_json(const model::JobRules& rules) {
  return dumped(make(rules), "job rules");
}
Result<model::JobRules> rules_from_json(std::string_view text) {
  return parsed<model::JobRules>(text, "stored job rules");
}
Result<std::string> texts_to_json(const std::map<std::string, std::string>& texts) {
  return dumped(json(texts), "parameters");
}
Result<std::map<std::string, std::string>> texts_from_json(std::string_view text) {
  return parsed<std::map<std::string, std::string>>(text, "stored parameters");
}

}  // namespace rota::wire
