#include "master/api/why_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/size_text.h"
#include "common/base/utf8.h"
#include "master/api/edge.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::api {
namespace {

constexpr std::size_t kHoldersTold = 10;

bool is_run_id(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::string run_words(RunId run) { return fmt::format("run {}", run.value); }

void add(std::vector<std::string>& holders, std::string words) {
  if (holders.size() < kHoldersTold) holders.push_back(std::move(words));
}

/// Runs on workers of the pool.
void add_slot_holders(const core::Snapshot& snapshot, const model::JobRules& rules,
                      std::vector<std::string>& holders) {
  const bool is_named = rules.route == model::RouteKind::Named;
  for (const core::WorkerView& worker : snapshot.workers) {
    const bool is_meant =
        worker.info->pool == rules.pool && (!is_named || worker.info->key.id == rules.worker);
    if (!is_meant) continue;
    for (const RunId run : worker.holds) {
      add(holders, fmt::format("{} on worker {}", run_words(run), shown_text(worker.info->key.id)));
    }
  }
}

void add_quota_holders(const std::vector<core::QuotaView>& views, const std::string& name,
                       std::vector<std::string>& holders) {
  const auto side = std::ranges::find(views, name, &core::QuotaView::name);
  if (side == views.end()) return;
  for (const RunId run : side->holders) add(holders, run_words(run));
}

/// The semaphore that the leader names in its words; of several that the job uses the first that is held.
void add_token_holders(const core::Snapshot& snapshot, RunWhyFacts& facts) {
  for (const core::SemaphoreView& view : snapshot.semaphores) {
    const auto& [space, name] = view.name;
    if (space != facts.run.space || !facts.rules.uses.contains(name)) continue;
    const bool is_named = facts.run.progress.detail.find("semaphore " + name) != std::string::npos;
    if (!is_named && !facts.run.progress.detail.empty()) continue;
    facts.semaphore = name;
    for (const core::SemaphoreView::Holder& holder : view.holders) {
      add(facts.holders, fmt::format("{} of {} on worker {}: {} of {}", run_words(holder.run),
                                     shown_text(holder.job), shown_text(holder.worker), holder.tokens, name));
    }
  }
  if (facts.semaphore.empty() && facts.rules.uses.size() == 1)
    facts.semaphore = facts.rules.uses.begin()->first;
}

/// Workers that take nothing, and why.
void add_closed_workers(const core::Snapshot& snapshot, WallTime now, RunWhyFacts& facts) {
  const bool is_named = facts.rules.route == model::RouteKind::Named;
  for (const core::WorkerView& worker : snapshot.workers) {
    const std::string& id = worker.info->key.id;
    const bool is_meant = is_named ? id == facts.rules.worker : worker.info->pool == facts.rules.pool;
    if (!is_meant || core::gets_work(worker)) continue;
    const std::string remarks = core::remarks_on(worker, now);
    add(facts.holders, fmt::format("worker {} is {}{}", shown_text(id), worker.state,
                                   remarks.empty() ? "" : ": " + remarks));
    if (worker.drain && !core::is_away(worker) && facts.drained_worker.empty()) facts.drained_worker = id;
  }
}

/// What each worker of the pool has, of what the run needs.
void add_offers(const core::Snapshot& snapshot, RunWhyFacts& facts) {
  for (const core::WorkerView& worker : snapshot.workers) {
    if (worker.info->pool != facts.rules.pool || core::is_away(worker)) continue;
    std::string has = fmt::format("{} slots", worker.info->slots);
    for (const auto& [name, amount] : facts.rules.needs) {
      const std::int64_t offered = worker.info->offers ? model::amount_of(*worker.info->offers, name) : 0;
      has += fmt::format(", {} {}", name, format_size(offered));
    }
    add(facts.holders, fmt::format("worker {} has {}", shown_text(worker.info->key.id), has));
  }
}

void add_holders(const core::Snapshot& snapshot, WallTime now, RunWhyFacts& facts) {
  const auto step = step_of(facts.run.progress.reason);
  if (!step) return;
  if (facts.run.progress.reason == model::Reason::NoWorkerHas) return add_offers(snapshot, facts);
  switch (*step) {
    case Step::Slot: return add_slot_holders(snapshot, facts.rules, facts.holders);
    case Step::PoolLimit: return add_quota_holders(snapshot.pools, facts.rules.pool, facts.holders);
    case Step::NamespaceLimit: return add_quota_holders(snapshot.namespaces, facts.run.space, facts.holders);
    case Step::Semaphore: return add_token_holders(snapshot, facts);
    case Step::Worker:
    case Step::Handler:
    case Step::Open: return add_closed_workers(snapshot, now, facts);
    default: return;
  }
}

std::int64_t waiting_in(const core::Snapshot& snapshot, const std::string& pool) {
  const auto side = std::ranges::find(snapshot.pools, pool, &core::QuotaView::name);
  return side == snapshot.pools.end() ? 0 : side->queued;
}

}  // namespace

DecidedBy decided_by(store::Reader& reader, Epoch epoch) {
  DecidedBy by;
  by.epoch = epoch;
  const auto terms = value_or_throw(reader.terms_through(epoch, 1));
  if (terms.empty() || terms.front().epoch != epoch) return by;
  by.leader = terms.front().holder;
  if (terms.front().taken != WallTime{}) by.since = terms.front().taken;
  return by;
}

RunWhyFacts run_facts(const store::RunRow& row, const model::JobDefinition* definition,
                      const core::RunView* view, const core::Snapshot* snapshot, std::string sentence,
                      WallTime now) {
  RunWhyFacts facts;
  facts.run = row.run;
  facts.job_name = row.job_name;
  facts.sentence = std::move(sentence);
  if (definition != nullptr) facts.rules = definition->rules;
  if (definition != nullptr) facts.handler = definition->work.handler;
  if (view != nullptr) {
    facts.run.progress.state = view->state;
    facts.run.progress.reason = view->reason;
    facts.run.progress.detail = view->detail;
    facts.is_away = view->away_since.has_value();
  }
  if (facts.run.progress.reason == model::Reason::RetryDelay) facts.before_wait = row.run.progress.not_before;
  const auto step = step_of(facts.run.progress.reason);
  if (step == Step::Overlap && is_run_id(facts.run.progress.detail)) {
    facts.holders.push_back("run " + facts.run.progress.detail);
  }
  if (snapshot == nullptr) return facts;
  add_holders(*snapshot, now, facts);
  if (view != nullptr) {
    facts.place = place_of(snapshot->lines, view->place, now, waiting_in(*snapshot, facts.rules.pool));
  }
  return facts;
}

std::vector<thrift::WhyCheck> to_wire(const std::vector<Check>& checks) {
  std::vector<thrift::WhyCheck> out;
  for (const Check& check : checks) {
    thrift::WhyCheck& each = out.emplace_back();
    each.__set_name(std::string(name_of(check.step)));
    each.__set_verdict(std::string(name_of(check.verdict)));
    each.__set_sentence(check.sentence);
    each.__set_holders(check.holders);
    each.__set_command(check.command);
  }
  return out;
}

thrift::WhyDecision to_wire(const DecidedBy& by, std::optional<WallTime> at) {
  thrift::WhyDecision out;
  out.__set_epoch(by.epoch.value);
  out.__set_leader(by.leader);
  if (at) out.__set_at_ms(to_ms(*at));
  if (by.since) out.__set_since_ms(to_ms(*by.since));
  return out;
}

thrift::WhyPlace to_wire(const Place& place) {
  thrift::WhyPlace out;
  out.__set_pool(place.pool);
  out.__set_place(place.place);
  out.__set_waiting(place.waiting);
  out.__set_is_least(place.is_least);
  out.__set_priority(place.priority);
  out.__set_weight(place.weight);
  return out;
}

std::vector<Check> from_wire(const std::vector<thrift::WhyCheck>& checks) {
  std::vector<Check> out;
  for (const thrift::WhyCheck& each : checks) {
    Check check;
    bool is_known = false;
    for (std::size_t i = 0; i < kSteps; ++i) {
      if (name_of(static_cast<Step>(i)) != each.name) continue;
      check.step = static_cast<Step>(i);
      is_known = true;
    }
    if (!is_known) continue;  // of a newer leader
    for (const Verdict verdict :
         {Verdict::Passed, Verdict::Stopped, Verdict::NotReached, Verdict::NotKnown}) {
      if (name_of(verdict) == each.verdict) check.verdict = verdict;
    }
    check.sentence = each.sentence;
    check.holders = each.holders;
    check.command = each.command;
    out.push_back(std::move(check));
  }
  return out;
}

}  // namespace rota::master::api
