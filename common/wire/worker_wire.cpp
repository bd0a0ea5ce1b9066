#include "common/wire/worker_wire.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/utf8.h"
#include "common/wire/text_rules.h"

namespace rota::wire {
namespace {

constexpr const char* kUnknownWork = "unknown_definition";

std::string_view name_of(model::HeldAttempt::State state) {
  switch (state) {
    case model::HeldAttempt::State::Running: return "running";
    case model::HeldAttempt::State::Finished: return "finished";
    case model::HeldAttempt::State::Tombstone: return "tombstone";
  }
  return "running";
}

std::optional<model::HeldAttempt::State> held_state_named(const std::string& name) {
  using State = model::HeldAttempt::State;
  for (const State state : {State::Running, State::Finished, State::Tombstone}) {
    if (name == name_of(state)) return state;
  }
  return std::nullopt;
}

/// What fits where lives are stored.
bool is_short_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  return name.size() <= kLongest && is_printable(name);
}

thrift::HeldAttempt to_wire(const model::HeldAttempt& held) {
  thrift::HeldAttempt out;
  out.__set_attempt(wire::to_wire(held.key));
  out.__set_state(text(name_of(held.state)));
  out.__set_started_ms(to_ms(held.started));
  if (held.state == model::HeldAttempt::State::Finished) {
    out.__set_outcome(wire::to_wire(held.outcome));
  }
  return out;
}

Result<model::HeldAttempt> from_wire(const thrift::HeldAttempt& in) {
  const auto state = held_state_named(in.state);
  if (!state) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("inventory: {} is no state", quoted(in.state)));
  }
  model::HeldAttempt out;
  out.key = wire::from_wire(in.attempt);
  out.state = *state;
  out.started = wall_from_ms(in.started_ms);
  if (*state == model::HeldAttempt::State::Finished) {
    auto outcome = wire::from_wire(in.outcome);
    if (!outcome) return fail(outcome.error());
    out.outcome = std::move(*outcome);
  }
  return out;
}

constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;
constexpr std::int32_t kMostThreads = 10'000'000;
constexpr std::int32_t kMostCpuPercent = 1'000'000;  // ten thousand cores
constexpr std::int64_t kMostCpuUs = std::int64_t{1} << 60;

/// Brings figures into their bounds, and says which of them no host can have.
class Bounds {
 public:
  template <typename Number>
  Number of(const char* name, Number value, Number most) {
    const Number bounded = std::clamp<Number>(value, 0, most);
    if (bounded != value) words_ += fmt::format("{}{} {}", words_.empty() ? "" : ", ", name, value);
    return bounded;
  }
  const std::string& words() const { return words_; }

 private:
  std::string words_;
};

thrift::Note note_to_wire(const model::RunNote& note) {
  thrift::Note out;
  out.__set_said_ms(to_ms(note.said));
  if (note.percent) {
    out.__set_percent(*note.percent);
    out.__set_text(note.text);
  }
  if (note.checkpoint) out.__set_checkpoint(*note.checkpoint);
  return out;
}

/// What is out of its bounds is left out: what a job says must not cost its result.
model::RunNote note_from_wire(const thrift::Note& in, const thrift::AttemptKey& attempt) {
  model::RunNote out;
  out.run = RunId{attempt.run};
  out.attempt = attempt.attempt;
  out.said = wall_from_ms(std::max<std::int64_t>(in.said_ms, 0));
  if (in.__isset.percent) {
    out.percent = std::clamp(in.percent, 0, 100);
    out.text = cut_text(in.text, kMaxProgressBytes);
  }
  if (in.__isset.checkpoint && in.checkpoint.size() <= kMaxCheckpointBytes) {
    out.checkpoint = in.checkpoint;
  }
  return out;
}

}  // namespace

thrift::Inventory to_wire(const model::Inventory& inventory) {
  thrift::Inventory out;
  out.__set_worker(to_wire(inventory.worker));
  out.__set_highest_epoch(inventory.highest_epoch.value);
  std::vector<thrift::HeldAttempt> attempts;
  attempts.reserve(inventory.attempts.size());
  for (const model::HeldAttempt& held : inventory.attempts) attempts.push_back(to_wire(held));
  out.__set_attempts(std::move(attempts));
  if (inventory.drain) {
    out.__set_draining(inventory.drain->draining);
    out.__set_drain_told(inventory.drain->told);
    out.__set_drain_order(inventory.drain->order);
  }
  return out;
}

Result<model::Inventory> from_wire(const thrift::Inventory& inventory) {
  constexpr std::int64_t kEpochs = std::int64_t{1} << (62 - kIdCounterBits);
  if (inventory.highest_epoch < 0 || inventory.highest_epoch >= kEpochs) {
    // Believed, a damaged file of one worker would end every Term of every master.
    return fail(ErrorCode::InvalidArgument,
                fmt::format("inventory: {} is no epoch", inventory.highest_epoch));
  }
  model::Inventory out;
  out.worker = from_wire(inventory.worker);
  out.highest_epoch = Epoch{inventory.highest_epoch};
  out.attempts.reserve(inventory.attempts.size());
  for (const thrift::HeldAttempt& in : inventory.attempts) {
    auto held = from_wire(in);
    if (!held) return fail(held.error());
    out.attempts.push_back(std::move(*held));
  }
  if (inventory.__isset.draining && inventory.__isset.drain_told && inventory.__isset.drain_order) {
    out.drain = model::DrainAck{inventory.draining, inventory.drain_told, inventory.drain_order};
  }
  return out;
}

thrift::Report to_wire(const model::AttemptReport& report) {
  const bool finished = report.what == model::AttemptReport::What::Finished;
  thrift::Report out;
  out.__set_attempt(to_wire(report.key));
  out.__set_worker(to_wire(report.worker));
  out.__set_what(finished ? "finished" : "started");
  out.__set_started_ms(to_ms(report.started));
  if (finished) out.__set_outcome(to_wire(report.outcome));
  if (report.note) out.__set_note(note_to_wire(*report.note));
  return out;
}

Result<model::AttemptReport> from_wire(const thrift::Report& report) {
  const bool finished = report.what == "finished";
  if (!finished && report.what != "started") {
    return fail(ErrorCode::InvalidArgument, fmt::format("report.what: {} is neither started nor "
                                                        "finished", quoted(report.what)));
  }
  if (report.attempt.run <= 0 || report.attempt.attempt <= 0) {
    return fail(ErrorCode::InvalidArgument, "report.attempt names no attempt");
  }
  if (!is_short_name(report.worker.id) || !is_short_name(report.worker.incarnation)) {
    return fail(ErrorCode::InvalidArgument, "report.worker names no life of a worker");
  }
  model::AttemptReport out;
  out.key = from_wire(report.attempt);
  out.worker = from_wire(report.worker);
  out.what = finished ? model::AttemptReport::What::Finished : model::AttemptReport::What::Started;
  out.started = wall_from_ms(report.started_ms);
  if (finished) {
    auto outcome = from_wire(report.outcome);
    if (!outcome) return fail(outcome.error());
    out.outcome = std::move(*outcome);
  }
  if (report.__isset.note) out.note = note_from_wire(report.note, report.attempt);
  return out;
}

thrift::DispatchAnswer dispatch_answer(const model::AttemptKey& key, model::Refusal refusal,
                                       const std::string& detail) {
  thrift::DispatchAnswer out;
  out.__set_attempt(to_wire(key));
  out.__set_accepted(refusal == model::Refusal::None);
  out.__set_refusal(text(model::name_of(refusal)));
  out.__set_detail(detail);
  return out;
}

thrift::DispatchAnswer unknown_work_answer(const thrift::AttemptKey& attempt) {
  thrift::DispatchAnswer out;
  out.__set_attempt(attempt);
  out.__set_refusal(kUnknownWork);
  return out;
}

bool is_unknown_work(const thrift::DispatchAnswer& answer) {
  return !answer.accepted && answer.refusal == kUnknownWork;
}

model::Refusal refusal_of(const thrift::DispatchAnswer& answer) {
  if (answer.accepted) return model::Refusal::None;
  const auto refusal = model::refusal_named(answer.refusal);
  if (!refusal || *refusal == model::Refusal::None) return model::Refusal::Malformed;
  return *refusal;
}

thrift::WorkerVitals to_wire(const model::WorkerVitals& vitals) {
  thrift::WorkerVitals out;
  out.__set_cpu_percent(vitals.cpu_percent);
  out.__set_memory_percent(vitals.memory_percent);
  out.__set_load_percent(vitals.load_percent);
  out.__set_disk_free_bytes(vitals.disk_free_bytes);
  out.__set_threads(vitals.threads);
  out.__set_running(vitals.running);
  out.__set_health(vitals.health);
  out.__set_sampled_ms(to_ms(vitals.sampled));
  if (!vitals.doubt.empty()) out.__set_doubt(vitals.doubt);
  return out;
}

model::WorkerVitals from_wire(const thrift::WorkerVitals& vitals) {
  constexpr std::size_t kHealthBytes = 400;
  model::WorkerVitals out;
  Bounds bounds;
  out.cpu_percent = bounds.of("cpu_percent", vitals.cpu_percent, 100);
  out.memory_percent = bounds.of("memory_percent", vitals.memory_percent, 100);
  out.load_percent = bounds.of("load_percent", vitals.load_percent, 100);
  out.disk_free_bytes = bounds.of("disk_free_bytes", vitals.disk_free_bytes, kMostBytes);
  out.threads = bounds.of("threads", vitals.threads, kMostThreads);
  out.running = bounds.of("running", vitals.running, kMostThreads);
  out.health = clean_text(vitals.health, kHealthBytes);
  out.sampled = wall_from_ms(std::max<std::int64_t>(vitals.sampled_ms, 0));
  out.doubt = bounds.words();
  return out;
}

thrift::AttemptUsage to_wire(const model::AttemptUsage& usage) {
  thrift::AttemptUsage out;
  out.__set_attempt(to_wire(usage.key));
  thrift::Usage figures;
  figures.__set_cpu_us(usage.cpu_us);
  figures.__set_memory_bytes(usage.memory_bytes);
  figures.__set_processes(usage.processes);
  if (usage.cpu_percent) figures.__set_cpu_percent(*usage.cpu_percent);
  out.__set_usage(figures);
  return out;
}

model::AttemptUsage from_wire(const thrift::AttemptUsage& usage) {
  model::AttemptUsage out;
  out.key = from_wire(usage.attempt);
  out.cpu_us = std::clamp<std::int64_t>(usage.usage.cpu_us, 0, kMostCpuUs);
  out.memory_bytes = std::clamp<std::int64_t>(usage.usage.memory_bytes, 0, kMostBytes);
  out.processes = std::clamp<std::int64_t>(usage.usage.processes, 0, kMostThreads);
  if (usage.usage.__isset.cpu_percent) {
    out.cpu_percent = std::clamp(usage.usage.cpu_percent, 0, kMostCpuPercent);
  }
  return out;
}

thrift::WorkerInfo to_wire(const model::WorkerInfo& info) {
  thrift::WorkerInfo out;
  out.__set_key(to_wire(info.key));
  out.__set_host(info.address.host);
  out.__set_port(info.address.port);
  out.__set_pool(info.pool);
  out.__set_labels(info.labels);
  out.__set_slots(info.slots);
  out.__set_weight(info.weight);
  out.__set_rank(info.rank);
  out.__set_version(info.version);
  out.__set_kill_means(info.kill_means);
  out.__set_kernel_limits(info.kernel_limits);
  out.__set_started_ms(to_ms(info.started));
  if (info.offers) out.__set_offers(*info.offers);
  if (info.vitals) out.__set_vitals(to_wire(*info.vitals));
  return out;
}

thrift::WorkerDrain to_wire(const model::WorkerDrain& drain) {
  thrift::WorkerDrain out;
  out.__set_by(drain.principal);
  out.__set_why(drain.why);
  out.__set_since_ms(to_ms(drain.changed));
  if (drain.deadline) out.__set_deadline_ms(to_ms(*drain.deadline));
  return out;
}

}  // namespace rota::wire
