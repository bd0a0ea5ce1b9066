// What needs somebody now: the leader's part by its last snapshot, the rest from the store. A follower asks
// the leader, one hop, and answers with the store's part alone when that fails.
#include <algorithm>
#include <map>

#include "master/api/edge.h"
#include "master/api/explain_rules.h"
#include "master/api/job_service.h"
#include "master/core/admission/stuck_rules.h"

namespace rota::master::api {
namespace {

using model::Reason;
using model::RunState;

constexpr Millis kAttentionHop{3000};
constexpr std::int32_t kRunsLookedAt = 1000;
constexpr std::size_t kJobsTold = 100;
constexpr std::int32_t kToldLookedAt = 1000;  // notifications, the newest
constexpr Millis kLongestLookBack{std::int64_t{400} * 24 * 3'600'000};

/// By job, in the order of their newest such run.
std::vector<FailedJob> by_job(const std::vector<store::RunRow>& rows) {
  std::vector<FailedJob> jobs;
  std::map<std::pair<bool, std::string>, std::size_t> places;
  for (const store::RunRow& row : rows) {
    if (!is_bad_end(row.run.progress)) continue;
    const auto [place, is_new] =
        places.try_emplace({store::is_of_one_off(row.run), row.job_name}, jobs.size());
    if (is_new) jobs.emplace_back().newest = row;
    FailedJob& job = jobs[place->second];
    ++job.runs;
    job.has_more = rows.size() >= static_cast<std::size_t>(kRunsLookedAt);
  }
  if (jobs.size() > kJobsTold) jobs.resize(kJobsTold);
  return jobs;
}

/// What became of the jobs since.
void add_present(store::Reader& reader, const std::string& space, std::vector<FailedJob>& jobs) {
  std::vector<JobId> ids;
  for (const FailedJob& job : jobs) {
    if (!store::is_of_one_off(job.newest.run)) ids.push_back(job.newest.run.job);
  }
  const auto newest = value_or_throw(reader.newest_runs_of(ids));
  for (FailedJob& job : jobs) {
    const auto last = newest.find(job.newest.run.job);
    job.has_succeeded = last != newest.end() && last->second.run.progress.state == RunState::Succeeded;
    if (store::is_of_one_off(job.newest.run)) continue;
    const auto row = reader.get_job(space, job.newest.job_name);
    if (!row || row->job.id != job.newest.run.job || row->job.state != model::JobState::Paused) continue;
    job.paused_why = row->job.state_why.empty() ? "by " + row->job.state_by : row->job.state_why;
  }
}

std::vector<FailedJob> failed_since(store::Reader& reader, const std::string& space, WallTime since) {
  store::RunQuery query;
  query.space = space;
  query.states = {RunState::Failed, RunState::TimedOut, RunState::Killed, RunState::KillFailed,
                  RunState::Lost};
  query.since = since;
  query.limit = kRunsLookedAt;
  std::vector<FailedJob> jobs = by_job(value_or_throw(reader.list_runs(query)));
  add_present(reader, space, jobs);
  return jobs;
}

std::vector<StuckJob> stuck_now(store::Reader& reader, const std::string& space, WallTime since) {
  store::GapQuery query{space, since, {Reason::OverlapSkipped, Reason::QueueFull}, true,
                        core::kStuckTicks};
  std::vector<StuckJob> out;
  for (const store::GapSum& sum : value_or_throw(reader.sum_gaps(query))) {
    if (sum.reference == 0) continue;
    auto run = reader.get_run(RunId{sum.reference});
    if (run && !model::is_final(run->run.progress.state)) out.push_back({sum, std::move(*run)});
  }
  return out;
}

std::vector<LateJob> late_since(store::Reader& reader, const std::string& space, WallTime since) {
  std::vector<LateJob> jobs;
  std::map<std::string, std::size_t> places;
  for (const model::LateRow& row : value_or_throw(reader.list_late({}, space, since, kRunsLookedAt))) {
    const auto [place, is_new] = places.try_emplace(row.job_name, jobs.size());
    if (is_new) jobs.push_back({row, 0});
    ++jobs[place->second].told;
  }
  if (jobs.size() > kJobsTold) jobs.resize(kJobsTold);
  return jobs;
}

/// One for each reason: the first in the order of ids is the oldest.
std::vector<WaitingRuns> waiting_now(store::Reader& reader, const core::Snapshot& snapshot, WallTime now) {
  std::map<Reason, std::pair<RunId, std::int64_t>> by_reason;
  for (const auto& [id, view] : snapshot.waiting) {
    if (!needs_help(view.reason) && !may_take_long(view.reason)) continue;
    ++by_reason.try_emplace(view.reason, id, 0).first->second.second;
  }
  std::vector<WaitingRuns> out;
  for (const auto& [reason, runs] : by_reason) {
    auto row = reader.get_run(runs.first);
    if (!row || model::is_final(row->run.progress.state)) continue;  // it has ended meanwhile
    if (!needs_help(reason) && now - row->run.recorded < kLongWait) continue;
    model::JobRules rules;
    rules.pool = "?";
    const auto definition = reader.definition_of(row->run.job, row->run.version);
    if (definition && *definition) rules = (*definition)->rules;
    const core::RunView& view = snapshot.waiting.find(runs.first)->second;
    std::string sentence = sentence_now(view, snapshot.workers, rules, now);
    out.push_back({std::move(*row), view, std::move(sentence), runs.second});
  }
  return out;
}

}  // namespace

AttentionFacts JobServiceHandler::attention_facts(const thrift::AttentionRequest& request,
                                                  std::shared_ptr<const core::Snapshot> snapshot) {
  AttentionFacts facts;
  facts.now = parts_.clock.wall();
  facts.space = request.space;
  facts.health = parts_.leader.health();
  const WallTime since = std::max(wall_from_ms(request.since_ms), facts.now - kLongestLookBack);
  facts.failed = failed_since(parts_.reader, request.space, since);
  facts.missed = value_or_throw(parts_.reader.sum_gaps({request.space, since, missed_reasons()}));
  facts.late = late_since(parts_.reader, request.space, since);
  facts.stuck = stuck_now(parts_.reader, request.space, since);
  facts.given_up =
      given_up_since(value_or_throw(parts_.reader.list_notifications(false, kToldLookedAt)), since);
  if (const auto noted = parts_.leader.node_facts()) facts.shortages = noted->shortages;
  if (snapshot) facts.waiting = waiting_now(parts_.reader, *snapshot, facts.now);
  facts.snapshot = std::move(snapshot);
  return facts;
}

void JobServiceHandler::attention(const Caller& caller, thrift::AttentionReport& out, const Head& head,
                                  const thrift::AttentionRequest& request) {
  const auto snapshot = parts_.leader.snapshot();
  if (!snapshot && !head.forwarded) {
    const auto asked =
        ask_leader(caller, head, std::min(deadline_of(head), BootClock::now() + kAttentionHop),
                   [&](auto& client, const Head& onward) {
                     thrift::AttentionReport answer;
                     client.attention(answer, onward, request);
                     return answer;
                   });
    if (asked) {
      out = *asked;
      return;
    }
  }
  const AttentionFacts facts = attention_facts(request, snapshot);
  out.__set_items(attention_of(facts));
  out.__set_answered_by(options_.master_id);
  out.__set_age_ms(snapshot ? std::max<std::int64_t>(0, (facts.now - snapshot->taken).count()) : -1);
  if (snapshot) return;
  thrift::AttentionItem nobody;
  nobody.__set_kind("health");
  nobody.__set_level("error");
  nobody.__set_subject("leader");
  nobody.__set_sentence("No leader could be asked: what only it knows is missing here.");
  nobody.__set_command("rota cluster status");
  out.items.insert(out.items.begin(), std::move(nobody));
}

}  // namespace rota::master::api
