// What only the leader knows: its last snapshot. A follower asks the leader, one hop. When that
// fails, the follower answers with what it knows itself, and says so.
#include <fmt/format.h>

#include <algorithm>

#include "common/model/day_text.h"
#include "common/wire/run_wire.h"
#include "common/wire/worker_wire.h"
#include "master/api/edge.h"
#include "master/api/explain_rules.h"
#include "master/api/job_service.h"
#include "master/api/node_words.h"
#include "master/core/time/hold_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::api {
namespace {

constexpr Millis kHopDeadline{1500};  // so that a query fails fast when the leader hangs

std::vector<thrift::WorkerInfo> workers_in(const core::Snapshot& snapshot, const core::NodeFacts* facts,
                                           WallTime now) {
  std::vector<thrift::WorkerInfo> out;
  for (const core::WorkerView& view : snapshot.workers) out.push_back(worker_told(view, facts, now));
  return out;
}

std::vector<thrift::CalendarEnding> to_wire(const std::vector<core::EndingCalendar>& ending) {
  std::vector<thrift::CalendarEnding> out;
  for (const core::EndingCalendar& each : ending) {
    thrift::CalendarEnding& calendar = out.emplace_back();
    calendar.__set_space(each.space);
    calendar.__set_name(each.name);
    calendar.__set_last_day(model::day_to_text(each.last_day));
    calendar.__set_ends_ms(to_ms(each.end));
    calendar.__set_beyond(each.holds ? "hold" : "days");
    calendar.__set_jobs(static_cast<std::int32_t>(each.jobs));
  }
  return out;
}

/// Workers that are offline and were not stopped, as a line of the cluster's health.
std::string who_vanished(const core::Snapshot& snapshot) {
  constexpr int kNamed = 5;
  std::string text;
  int count = 0;
  for (const core::WorkerView& view : snapshot.workers) {
    if (view.state != "offline" || !view.left || view.why == core::kWasStopped) continue;
    if (count++ >= kNamed) continue;
    text += (text.empty() ? "" : ", ") + view.info->key.id + " since " + core::second_text(*view.left);
  }
  if (count > kNamed) text += fmt::format(", and {} more", count - kNamed);
  return text.empty() ? "" : "offline: " + text + " (rota worker list; rota worker forget)";
}

/// What its worker last said about the attempt that is stored.
void put_usage(thrift::Explanation& out, const core::Snapshot& snapshot, const model::Run& run,
               WallTime now) {
  const model::AttemptKey attempt{run.id, run.progress.attempt};
  for (const core::WorkerView& view : snapshot.workers) {
    if (view.info->key.id != run.progress.worker.id || !view.usage) continue;
    const auto found = std::ranges::find(*view.usage, attempt, &model::AttemptUsage::key);
    if (found == view.usage->end()) continue;
    out.__set_usage(usage_told(*found, now));
  }
}

WallTime last_change(const model::Run& run) {
  WallTime out = run.recorded;
  for (const auto& moment : {run.progress.dispatched, run.progress.started, run.progress.ended}) {
    if (moment) out = std::max(out, *moment);
  }
  return out;
}

}  // namespace

thrift::Explanation JobServiceHandler::explain_stored(const store::RunRow& row,
                                                      const std::string& pool) const {
  const model::RunProgress& at = row.run.progress;
  thrift::Explanation out;
  out.__set_state(std::string(model::name_of(at.state)));
  out.__set_reason(std::string(model::name_of(at.reason)));
  std::string sentence = sentence_for(at.state, at.reason, at.detail, pool);
  if (model::is_final(at.state) && !at.outcome.message.empty()) {
    sentence += fmt::format(" It said: {}", at.outcome.message);
  }
  out.__set_sentence(std::move(sentence));
  const bool is_final = model::is_final(at.state);
  out.__set_age_ms(is_final ? 0 : age_ms(parts_.clock.wall(), last_change(row.run)));
  return out;
}

/// What the state of its job means for the run; empty: nothing.
std::string JobServiceHandler::job_remark(const store::RunRow& row) const {
  if (model::is_final(row.run.progress.state) || store::is_of_one_off(row.run)) return "";
  const auto job = parts_.reader.get_job(row.run.space, row.job_name);
  const bool is_paused = job && job->job.id == row.run.job && job->job.state == model::JobState::Paused;
  if (!is_paused) return "";
  return " Its job is paused; a run that has fired goes on all the same (rota run cancel ends it).";
}

void JobServiceHandler::explain(const Caller& caller, thrift::Explanation& out, const Head& head,
                                std::int64_t run) {
  const auto row = value_or_throw(parts_.reader.get_run(RunId{run}));
  explain_row(caller, out, head, row);
  if (head.forwarded) return;
  out.__set_sentence(out.sentence + child_remark(row) + job_remark(row) + late_remark(row));
  put_moment_checks(out, row);
}

void JobServiceHandler::explain_row(const Caller& caller, thrift::Explanation& out, const Head& head,
                                    const store::RunRow& row) {
  const auto definition = parts_.reader.definition_of(row.run.job, row.run.version);
  model::JobRules rules;
  rules.pool = "?";
  const model::JobDefinition* known = definition ? definition->get() : nullptr;
  if (known != nullptr) rules = known->rules;
  out = explain_stored(row, rules.pool);
  put_run_checks(out, row, known, nullptr);
  if (model::is_final(row.run.progress.state)) return;
  if (const auto snapshot = parts_.leader.snapshot()) {
    const auto found = snapshot->waiting.find(row.run.id);
    const WallTime now = parts_.clock.wall();
    out.__set_age_ms(age_ms(now, snapshot->taken));
    put_usage(out, *snapshot, row.run, now);
    if (found == snapshot->waiting.end()) {  // newer than the snapshot, or it runs
      core::RunView stored;
      stored.state = row.run.progress.state;
      stored.reason = row.run.progress.reason;
      stored.detail = row.run.progress.detail;
      out.__set_sentence(sentence_now(stored, snapshot->workers, rules, now));
      return put_run_checks(out, row, known, &stored);
    }
    const core::RunView& view = found->second;
    out.__set_state(std::string(model::name_of(view.state)));
    out.__set_reason(std::string(model::name_of(view.reason)));
    out.__set_sentence(sentence_now(view, snapshot->workers, rules, now));
    if (view.away_since) out.__set_away_since_ms(to_ms(*view.away_since));
    if (view.away_since && view.fence) out.__set_fence_ms(to_ms(*view.fence));
    return put_run_checks(out, row, known, &view);
  }
  if (head.forwarded) return;
  const auto asked =
      ask_leader(caller, head, std::min(deadline_of(head), BootClock::now() + kHopDeadline),
                 [&](auto& client, const Head& onward) {
                   thrift::Explanation answer;
                   client.explain(answer, onward, row.run.id.value);
                   return answer;
                 });
  if (asked) {
    out = *asked;
  } else {
    out.__set_sentence(out.sentence + " (as stored; the leader could not be asked)");
  }
}

void JobServiceHandler::list_workers(const Caller& caller, std::vector<thrift::WorkerInfo>& out,
                                     const Head& head) {
  if (const auto snapshot = parts_.leader.snapshot()) {
    out = workers_in(*snapshot, parts_.leader.node_facts().get(), parts_.clock.wall());
    return;
  }
  if (head.forwarded) throw rpc::to_wire(desk_.not_leader());
  out = value_or_throw(
      ask_leader(caller, head, std::min(deadline_of(head), BootClock::now() + kHopDeadline),
                 [&](auto& client, const Head& onward) {
                   std::vector<thrift::WorkerInfo> answer;
                   client.list_workers(answer, onward);
                   return answer;
                 }));
}

thrift::ClusterStatus JobServiceHandler::status_here() const {
  thrift::ClusterStatus out;
  out.__set_cluster(options_.cluster);
  if (parts_.cluster_uuid) out.__set_uuid(parts_.cluster_uuid());
  if (const auto leader = parts_.leader.leader()) {
    out.__set_leader(rpc::to_string(rpc::Endpoint{leader->host, leader->port}));
  }
  std::vector<thrift::MasterInfo> masters;
  for (const MasterView& view : parts_.leader.masters()) {
    thrift::MasterInfo info;
    info.__set_id(view.id);
    info.__set_address(rpc::to_string(rpc::Endpoint{view.address.host, view.address.port}));
    info.__set_leads(view.leads);
    info.__set_elector(view.elector);
    info.__set_database(view.database);
    masters.push_back(std::move(info));
  }
  out.__set_masters(std::move(masters));
  std::map<std::string, std::string> health;
  for (const auto& [part, word] : parts_.leader.health()) health[part] = word;
  out.__set_health(std::move(health));
  out.__set_answered_by(options_.master_id);
  out.__set_plaintext_networks(options_.plaintext_networks);
  const auto snapshot = parts_.leader.snapshot();
  if (!snapshot) return out;
  out.__set_epoch(snapshot->epoch.value);
  out.__set_workers(workers_in(*snapshot, parts_.leader.node_facts().get(), parts_.clock.wall()));
  if (const std::string away = who_vanished(*snapshot); !away.empty()) out.health["workers"] = away;
  out.__set_jobs(snapshot->jobs);
  out.__set_active_runs(snapshot->active_runs);
  out.__set_watermark_ms(to_ms(snapshot->watermark));
  out.__set_held(core::hold_text(*snapshot, parts_.clock.wall()));
  out.__set_counters(snapshot->counters);
  out.__set_freezes(to_wire(snapshot->freezes, parts_.clock.wall()));
  out.__set_calendars_ending(to_wire(snapshot->calendars_ending));
  out.__set_age_ms(age_ms(parts_.clock.wall(), snapshot->taken));
  return out;
}

void JobServiceHandler::cluster_status(const Caller& caller, thrift::ClusterStatus& out,
                                       const Head& head) {
  out = status_here();
  if (parts_.leader.snapshot() || head.forwarded) return;
  const auto asked =
      ask_leader(caller, head, std::min(deadline_of(head), BootClock::now() + kHopDeadline),
                 [&](auto& client, const Head& onward) {
                   thrift::ClusterStatus answer;
                   client.cluster_status(answer, onward);
                   return answer;
                 });
  const std::string why = out.leader.empty() ? parts_.leader.why_nobody_leads() : "";
  if (asked) {
    out = *asked;
  } else if (!why.empty()) {
    out.health["office"] = why;
    out.__set_age_ms(-1);
  } else {
    const Error& error = asked.error().error;
    // A question changes nothing, so "may or may not be done" would be wrong here.
    out.health["leader"] = error.retry == Retry::Unknown ? "no answer from " + out.leader : error.message;
    out.__set_age_ms(-1);  // the leader added nothing
  }
}

}  // namespace rota::master::api
