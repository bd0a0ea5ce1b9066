#include "client/command/show_json.h"

#include <job_types.h>

#include <nlohmann/json.hpp>
#include <string>

#include "client/command/node_json.h"
#include "common/model/job_fields.h"
#include "common/wire/job_names.h"
#include "common/wire/run_wire.h"

namespace rota::client {
namespace {

using nlohmann::json;

void put_time(json& out, const char* name, bool is_set, std::int64_t value) {
  out[name] = is_set && value != 0 ? json(value) : json(nullptr);
}

json cost_json(const thrift::Outcome& outcome, std::int32_t unknown, std::int64_t value) {
  return wire::is_known(outcome, unknown) ? json(value) : json(nullptr);
}

/// {"from_ms", "to_ms"}, or null when its host did not stand still.
json still_json(const thrift::Outcome& outcome) {
  if (!outcome.__isset.stood_still_from_ms) return nullptr;
  return {{"from_ms", outcome.stood_still_from_ms}, {"to_ms", outcome.stood_still_to_ms}};
}

json outcome_json(const thrift::Outcome& outcome) {
  return {{"exit_status", outcome.exit_status < 0 ? json(nullptr) : json(outcome.exit_status)},
          {"signal", outcome.signal == 0 ? json(nullptr) : json(outcome.signal)},
          {"message", outcome.message},
          {"result", outcome.result},
          {"stdout_bytes", outcome.stdout_bytes},
          {"stderr_bytes", outcome.stderr_bytes},
          {"cpu_us", cost_json(outcome, wire::kCpuUnknown, outcome.cpu_us)},
          {"peak_memory_bytes", cost_json(outcome, wire::kMemoryUnknown, outcome.peak_memory_bytes)},
          {"read_bytes", cost_json(outcome, wire::kReadsUnknown, outcome.read_bytes)},
          {"written_bytes", cost_json(outcome, wire::kWritesUnknown, outcome.written_bytes)},
          {"stood_still", still_json(outcome)}};
}

/// "start_ms" is called start_at_ms here, as every moment is.
std::string moment_name(std::string_view name) {
  if (name.ends_with("_ms")) name.remove_suffix(3);
  return std::string(name) + "_at_ms";
}

/// A definition, or a part of one, by the field table.
template <typename Struct, typename WireStruct>
json fields_json(model::FieldsOf<Struct> fields, const WireStruct& from) {
  json out = json::object();
  model::for_each_field(fields, [&](const auto& row) {
    using Row = std::decay_t<decltype(row)>;
    const auto& value = row.on_wire(from);
    if constexpr (Row::kind == model::FieldKind::Moment) {
      out[moment_name(row.json_name())] = row.is_set(from) ? json(value) : json(nullptr);
    } else if constexpr (Row::kind == model::FieldKind::Group) {
      out[std::string(row.json_name())] = fields_json(model::FieldsOf<typename Row::value_type>{}, value);
    } else if constexpr (Row::kind == model::FieldKind::Choice) {
      out[std::string(row.json_name())] = wire::word_in_file(row, value);
    } else {
      out[std::string(row.json_name())] = value;
    }
  });
  return out;
}

}  // namespace

json to_json(const thrift::RunInfo& run) {
  json out = {{"id", std::to_string(run.id)},
              {"job", run.job_name},
              {"job_id", std::to_string(run.job_id)},
              {"job_version", run.job_version},
              {"kind", run.kind},
              {"state", run.state},
              {"reason", run.reason},
              {"detail", run.detail},
              {"attempt", run.attempt},
              {"worker", run.worker.id},
              {"incarnation", run.worker.incarnation},
              {"epoch", run.epoch},
              {"principal", run.principal},
              {"request_key", run.request_key},
              {"cancel_asked", run.cancel_asked},
              {"losses", run.losses},
              {"parameters", run.parameters},
              {"outcome", outcome_json(run.outcome)}};
  put_time(out, "tick_at_ms", run.__isset.tick_ms, run.tick_ms);
  put_time(out, "scheduled_at_ms", true, run.scheduled_ms);
  put_time(out, "recorded_at_ms", true, run.recorded_ms);
  put_time(out, "dispatched_at_ms", run.__isset.dispatched_ms, run.dispatched_ms);
  put_time(out, "started_at_ms", run.__isset.started_ms, run.started_ms);
  put_time(out, "ended_at_ms", run.__isset.ended_ms, run.ended_ms);
  put_time(out, "not_before_at_ms", run.__isset.not_before_ms, run.not_before_ms);
  return out;
}

namespace {

/// The progress and checkpoint that the run's attempts reported; null: none.
void put_note(json& out, const thrift::RunDetail& detail) {
  out["progress"] = out["checkpoint"] = nullptr;
  if (!detail.__isset.note) return;
  const thrift::RunNote& note = detail.note;
  if (note.__isset.percent) {
    out["progress"] = {{"percent", note.percent}, {"text", note.text}, {"attempt", note.attempt},
                       {"said_at_ms", note.said_ms}};
  }
  if (!note.__isset.checkpoint) return;
  out["checkpoint"] = {{"value", note.checkpoint}, {"bytes", note.checkpoint.size()},
                       {"attempt", note.checkpoint_attempt}, {"said_at_ms", note.checkpoint_ms}};
}

}  // namespace

json to_json(const thrift::RunDetail& detail) {
  json out = to_json(detail.run);
  out["work"] = detail.__isset.work ? fields_json(model::FieldsOf<model::JobWork>{}, detail.work) : json();
  put_note(out, detail);
  out["attempts"] = json::array();
  for (const thrift::AttemptInfo& attempt : detail.attempts) {
    json row = {{"attempt", attempt.attempt.attempt}, {"worker", attempt.worker.id},
                {"incarnation", attempt.worker.incarnation}, {"epoch", attempt.epoch},
                {"late", attempt.late}, {"state", attempt.outcome.state},
                {"reason", attempt.outcome.reason}, {"outcome", outcome_json(attempt.outcome)}};
    put_time(row, "dispatched_at_ms", attempt.__isset.dispatched_ms, attempt.dispatched_ms);
    put_time(row, "started_at_ms", true, attempt.outcome.started_ms);
    put_time(row, "ended_at_ms", true, attempt.outcome.ended_ms);
    out["attempts"].push_back(row);
  }
  return out;
}

json to_json(const thrift::JobDefinition& definition) {
  return fields_json(model::FieldsOf<model::JobDefinition>{}, definition);
}

json to_json(const thrift::JobInfo& job) {
  json out = {{"id", std::to_string(job.id)}, {"version", job.version}, {"state", job.state},
              {"state_by", job.state_by}, {"state_why", job.state_why},
              {"definition", to_json(job.definition)}, {"name", job.definition.name}};
  put_time(out, "created_at_ms", true, job.created_ms);
  put_time(out, "changed_at_ms", true, job.changed_ms);
  put_time(out, "next_at_ms", job.__isset.next_ms, job.next_ms);
  const auto put_default = [&out](const char* key, bool is_set, std::int64_t ms) {
    if (is_set) out[key] = ms;
  };
  put_default("default_timeout_ms", job.__isset.default_timeout_ms, job.default_timeout_ms);
  put_default("default_run_timeout_ms", job.__isset.default_run_timeout_ms, job.default_run_timeout_ms);
  put_default("default_queue_timeout_ms", job.__isset.default_queue_timeout_ms, job.default_queue_timeout_ms);
  out["last_run"] = nullptr;
  if (!job.__isset.last_run) return out;
  const thrift::LastRun& last = job.last_run;
  out["last_run"] = {{"id", std::to_string(last.id)}, {"state", last.state}, {"reason", last.reason}};
  put_time(out["last_run"], "scheduled_at_ms", true, last.scheduled_ms);
  put_time(out["last_run"], "ended_at_ms", last.__isset.ended_ms, last.ended_ms);
  return out;
}

json to_json(const thrift::WorkerInfo& worker) {
  json out = {{"id", worker.key.id}, {"incarnation", worker.key.incarnation},
              {"address", worker.host + ":" + std::to_string(worker.port)},
              {"pool", worker.pool}, {"labels", worker.labels}, {"slots", worker.slots},
              {"running", worker.running}, {"state", worker.state}, {"why", worker.why},
              {"remarks", worker.__isset.remarks ? json(worker.remarks) : json(nullptr)},
              {"version", worker.version}, {"kill_means", worker.kill_means},
              {"kernel_limits", worker.kernel_limits},
              {"dispatched_total", worker.dispatched_total}};
  put_time(out, "started_at_ms", true, worker.started_ms);
  put_time(out, "left_at_ms", worker.__isset.left_ms, worker.left_ms);
  put_time(out, "silent_since_at_ms", worker.__isset.silent_since_ms, worker.silent_since_ms);
  out["used_slots"] = worker.__isset.used_slots ? worker.used_slots : worker.running;
  out["offers"] = worker.__isset.offers ? json(worker.offers) : json(nullptr);
  out["used"] = worker.used;
  out["drain"] = out["vitals"] = nullptr;
  if (worker.__isset.vitals) {
    const thrift::WorkerVitals& vitals = worker.vitals;
    out["vitals"] = {{"cpu_percent", vitals.cpu_percent}, {"memory_percent", vitals.memory_percent},
                     {"load_percent", vitals.load_percent}, {"threads", vitals.threads},
                     {"disk_free_bytes", vitals.disk_free_bytes}, {"running", vitals.running},
                     {"health", vitals.health}, {"doubt", vitals.doubt}};
    put_time(out["vitals"], "sampled_at_ms", true, vitals.sampled_ms);
    out["vitals"]["age_ms"] = worker.__isset.vitals_age_ms ? json(worker.vitals_age_ms) : json(nullptr);
  }
  out["warning"] = worker.__isset.warning ? json(worker.warning) : json(nullptr);
  out["clock_offset_ms"] = worker.__isset.clock_offset_ms ? json(worker.clock_offset_ms) : json(nullptr);
  out["weight"] = worker.__isset.weight ? json(worker.weight) : json(nullptr);
  out["heartbeat_age_ms"] = worker.__isset.heartbeat_age_ms ? json(worker.heartbeat_age_ms) : json(nullptr);
  out["share"] = out["today"] = nullptr;
  if (worker.__isset.share_of) out["share"] = {{"given", worker.share_given}, {"of", worker.share_of}};
  if (worker.__isset.today) {
    out["today"] = {{"scheduled", worker.today.scheduled}, {"succeeded", worker.today.succeeded},
                    {"failed", worker.today.failed}};
    put_time(out["today"], "since_at_ms", true, worker.today.since_ms);
  }
  out["hold"] = nullptr;
  if (worker.__isset.hold) {
    json hold = {{"kind", worker.hold.kind}, {"why", worker.hold.why}, {"strikes", worker.hold.strikes}};
    put_time(hold, "since_at_ms", true, worker.hold.since_ms);
    put_time(hold, "until_at_ms", true, worker.hold.until_ms);
    put_time(hold, "trial_at_ms", worker.hold.__isset.trial_ms, worker.hold.trial_ms);
    out["hold"] = hold;
  }
  if (worker.__isset.drain) {
    json drain = {{"by", worker.drain.by}, {"why", worker.drain.why}};
    put_time(drain, "since_at_ms", true, worker.drain.since_ms);
    put_time(drain, "deadline_at_ms", worker.drain.__isset.deadline_ms, worker.drain.deadline_ms);
    out["drain"] = drain;
  }
  return out;
}

json to_json(const thrift::GapInfo& gap) {
  json out = {{"job_version", gap.job_version}, {"count", gap.count}, {"reason", gap.reason},
              {"run", gap.run == 0 ? json(nullptr) : json(std::to_string(gap.run))}};
  put_time(out, "from_at_ms", true, gap.from_ms);
  put_time(out, "to_at_ms", true, gap.to_ms);
  return out;
}

json to_json(const thrift::WorkerLife& life) {
  json out = {{"id", life.key.id}, {"incarnation", life.key.incarnation}, {"pool", life.pool},
              {"address", life.host + ":" + std::to_string(life.port)}, {"why_left", life.why_left}};
  put_time(out, "joined_at_ms", true, life.joined_ms);
  put_time(out, "left_at_ms", life.__isset.left_ms, life.left_ms);
  return out;
}

json to_json(const thrift::FreezeInfo& freeze) {
  return {{"id", freeze.id}, {"namespace", freeze.space}, {"from_ms", freeze.from_ms},
          {"until_ms", freeze.until_ms}, {"by", freeze.principal}, {"why", freeze.why},
          {"state", freeze.state}};
}

json to_json(const thrift::JobsOver& over) {
  json jobs = json::array();
  for (const thrift::JobOver& job : over.jobs) {
    jobs.push_back({{"name", job.name}, {"entries", job.entries}, {"others_fire", job.others_fire}});
  }
  return {{"jobs", jobs}, {"count", over.count}, {"looked_at", over.looked_at}, {"users", over.users}};
}

json to_json(const thrift::CalendarEnding& ending) {
  return {{"namespace", ending.space}, {"name", ending.name}, {"last_day", ending.last_day},
          {"ends_ms", ending.ends_ms}, {"beyond", ending.beyond}, {"jobs", ending.jobs}};
}

json to_json(const thrift::ClusterStatus& status) {
  json out = {{"cluster", status.cluster}, {"uuid", status.uuid}, {"epoch", status.epoch},
              {"leader", status.leader.empty() ? json(nullptr) : json(status.leader)},
              {"jobs", status.jobs}, {"active_runs", status.active_runs}, {"held", status.held},
              {"health", status.health}, {"counters", status.counters},
              {"age_ms", status.age_ms}, {"answered_by", status.answered_by},
              {"plaintext_networks", status.plaintext_networks}};
  put_time(out, "watermark_at_ms", true, status.watermark_ms);
  out["masters"] = json::array();
  for (const auto& master : status.masters) {
    out["masters"].push_back(
        {{"id", master.id}, {"address", master.address}, {"leads", master.leads},
         {"elector", master.elector}, {"database", master.database}});
  }
  out["workers"] = json::array();
  for (const auto& worker : status.workers) out["workers"].push_back(to_json(worker));
  out["freezes"] = json::array();
  for (const auto& freeze : status.freezes) out["freezes"].push_back(to_json(freeze));
  out["calendars_ending"] = json::array();
  for (const auto& ending : status.calendars_ending) out["calendars_ending"].push_back(to_json(ending));
  return out;
}

json to_json(const thrift::VerifyReport& report) {
  json checks = json::array();
  for (const thrift::Check& check : report.checks) {
    checks.push_back({{"promise", check.promise}, {"ok", check.ok}, {"planned", check.planned},
                      {"fired", check.fired}, {"skipped", check.skipped},
                      {"missing", check.missing}, {"doubled", check.doubled},
                      {"examples", check.examples}});
  }
  json out = {{"ok", report.ok}, {"decided_through_ms", report.decided_through_ms},
              {"max_lateness_ms", report.max_lateness_ms}, {"checks", checks},
              {"complete", report.complete}, {"jobs_looked_at", report.jobs_looked_at},
              {"jobs_in_all", report.jobs_in_all}, {"runs_looked_at", report.runs_looked_at}};
  if (!report.complete) out["next_place"] = report.next_place;
  if (report.__isset.runs_through_ms) out["runs_through_ms"] = report.runs_through_ms;
  return out;
}

json to_json(const thrift::Explanation& why) {
  json out = {{"state", why.state}, {"reason", why.reason}, {"sentence", why.sentence},
              {"age_ms", why.age_ms}};
  put_time(out, "worker_away_since_at_ms", why.__isset.away_since_ms, why.away_since_ms);
  put_time(out, "fence_at_ms", why.__isset.fence_ms, why.fence_ms);
  out["usage"] = nullptr;
  if (why.__isset.usage) {
    out["usage"] = to_json(why.usage);
  }
  return out;
}

}  // namespace rota::client
