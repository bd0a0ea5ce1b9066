#include "master/core/tables/run_table.h"

#include "common/base/check.h"

namespace rota::master::core {

RunFacts facts_of(const model::Run& row) {
  return {row.id, row.job, row.version, row.kind, row.tick, row.scheduled, row.recorded, row.parameters};
}

RunEntry::RunEntry(model::Run&& row, RulesPtr rules) : facts_(facts_of(row)), rules_(std::move(rules)) {
  model::RunProgress& from = row.progress;
  track_.state = from.state;
  track_.reason = from.reason;
  track_.attempt = from.attempt;
  track_.failures = from.failures;
  track_.losses = from.losses;
  track_.cancel_asked = from.cancel_asked;
  track_.set_detail(std::move(from.detail));
  track_.set_not_before(from.not_before);
  if (is_bound()) bind_to(model::start_in(row.request_key).value_or(model::StartKey{"?", ""}));
  const bool was_sent = from.worker != model::WorkerKey{};
  const bool is_dated = from.dispatched || from.started || from.ended || from.first_dispatched;
  if (!was_sent && !is_dated && from.outcome == model::Outcome{}) return;
  RunTrack::More& more = track_.more_.change();
  more.dispatched = from.dispatched;
  more.started = from.started;
  more.ended = from.ended;
  more.first_dispatched = from.first_dispatched;
  more.outcome.set(std::move(from.outcome));
  if (was_sent) more.worker = std::make_shared<const model::WorkerKey>(std::move(from.worker));
}

model::RunProgress RunEntry::write_progress(Epoch epoch) {
  model::RunProgress out;
  out.state = track_.state;
  out.reason = track_.reason;
  out.attempt = track_.attempt;
  out.failures = track_.failures;
  out.losses = track_.losses;
  out.worker = track_.worker();
  out.epoch = epoch;
  out.dispatched = track_.dispatched();
  out.started = track_.started();
  out.ended = track_.ended();
  out.not_before = track_.not_before();
  out.first_dispatched = track_.first_dispatched();
  out.cancel_asked = track_.cancel_asked;
  const bool is_last = model::is_final(track_.state) && track_.more_.has_value();
  out.detail = is_last ? track_.more_.change().detail.take() : track_.detail();
  out.outcome = is_last ? track_.more_.change().outcome.take() : track_.outcome();
  return out;
}

RunEntry* RunTable::find(RunId id) { return runs_.find(id); }

const RunEntry* RunTable::find(RunId id) const { return runs_.find(id); }

RunEntry& RunTable::add(RunEntry entry) {
  const RunId id = entry.id();
  RunEntry* const added = runs_.insert(id, std::make_unique<RunEntry>(std::move(entry)));
  CHECK_OR_DIE(added != nullptr, "a run was added twice");
  ++count_of(added->progress().state);
  return *added;
}

void RunTable::set_state(RunEntry& run, model::RunState to, model::Reason reason, std::string detail) {
  RunTrack& track = run.track_;
  --count_of(track.state);
  ++count_of(to);
  track.state = to;
  track.reason = reason;
  track.set_detail(std::move(detail));
  if (model::is_final(to)) timers_.clear_all(run.id());
}

std::vector<RunId> RunTable::take_touched() {
  std::vector<RunId> taken = std::exchange(touched_, {});
  if (!std::is_sorted(taken.begin(), taken.end())) std::sort(taken.begin(), taken.end());
  for (const RunId id : taken) {
    if (const RunEntry* run = find(id)) run->touched_ = false;
  }
  return taken;
}

void RunTable::erase(RunId id) {
  const RunEntry* run = find(id);
  CHECK_OR_DIE(run != nullptr, "a run that is not known was erased");
  --count_of(run->progress().state);
  runs_.erase(id);
}

}  // namespace rota::master::core
