#include "semaphore_judge.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace rota::sim {

using model::RunState;

std::map<std::pair<std::string, std::string>, std::int32_t> tokens_of(const SimTables& tables, const model::Run& run) {
  std::map<std::pair<std::string, std::string>, std::int32_t> tokens;
  for (JobVersion version = run.version; version > 0; --version) {
    const auto row = tables.versions.find({run.job, version});
    if (row == tables.versions.end() || row->second.definition == nullptr) continue;
    for (const auto& [name, count] : row->second.definition->rules.uses) tokens[{run.space, name}] = count;
    tokens[{kPoolTokens, row->second.definition->rules.pool}] = row->second.definition->rules.slots;
    tokens[{kSpaceTokens, run.space}] = row->second.definition->rules.slots;
    return tokens;
  }
  tokens[{kSpaceTokens, run.space}] = 1;
  return tokens;
}

std::vector<std::int64_t> amounts_since(const SimTables& tables, const std::pair<std::string, std::string>& name,
                                        std::int32_t since) {
  std::vector<std::int64_t> amounts;
  if (name.first == kPoolTokens || name.first == kSpaceTokens) {
    const auto of = name.first == kPoolTokens ? model::QuotaOf::Pool : model::QuotaOf::Space;
    if (since <= 0) amounts.push_back(kTokensUnlimited);
    for (auto at = tables.quotas.lower_bound({of, name.second, since}); at != tables.quotas.end(); ++at) {
      if (at->second.of != of || at->second.name != name.second) break;
      amounts.push_back(at->second.quota.slots < 0 ? kTokensUnlimited : at->second.quota.slots);
    }
    return amounts;
  }
  for (auto at = tables.semaphores.lower_bound({name.first, name.second, since}); at != tables.semaphores.end(); ++at) {
    if (at->second.space != name.first || at->second.name != name.second) break;
    if (!at->second.deleted) amounts.push_back(at->second.count);
  }
  return amounts;
}

std::string tokens_named(const std::pair<std::string, std::string>& name) {
  if (name.first == kPoolTokens) return "P42: runs of pool " + name.second;
  if (name.first == kSpaceTokens) return "P42: runs of namespace " + name.second;
  return "P41: tokens of semaphore " + name.second;
}

void SemaphoreJudge::note(const SimTables& tables, RunId id) {
  const model::Run& run = tables.runs.at(id);
  const bool is_held = run.progress.state == RunState::Dispatched || run.progress.state == RunState::Running;
  const auto known = held_.find(id);
  if (is_held == (known != held_.end())) return;
  if (!is_held) {
    for (const auto& [name, count] : known->second) sums_[name] -= count;
    held_.erase(known);
    return;
  }
  const Tokens tokens = tokens_of(tables, run);
  if (tokens.empty()) return;
  for (const auto& [name, count] : tokens) {
    sums_[name] += count;
    // What a worker holds that a restored database has forgotten was sent by the tokens of then.
    if (run.progress.state == RunState::Dispatched) raised_.insert(name);
  }
  held_.emplace(id, tokens);
}

std::string SemaphoreJudge::judge_batch(const SimTables& tables, const std::set<RunId>& unknown) {
  for (const Name& name : std::exchange(raised_, {})) {
    std::int64_t sum = sums_[name];
    for (const RunId run : unknown) {
      const auto held = held_.find(run);
      if (held != held_.end() && held->second.contains(name)) sum -= held->second.at(name);
    }
    const std::int64_t count = most_in_batch(tables, name);
    if (sum > count) {
      return tokens_named(name) + ": " + std::to_string(sum) + " are held, of " + std::to_string(count);
    }
    if (sum == count && name.first == kPoolTokens) marks_.hit("pool_limit_reached");
    if (sum == count && name.first == kSpaceTokens) marks_.hit("namespace_slots_reached");
    if (sum == count && name.first.front() != '/') marks_.hit("all_tokens_held");
  }
  note_versions(tables);
  return "";
}

/// A count may be lowered in the batch that sent a run before.
std::int64_t SemaphoreJudge::most_in_batch(const SimTables& tables, const Name& name) const {
  const auto seen = seen_.find(name);
  const std::int32_t from = seen == seen_.end() ? 0 : seen->second;
  const std::vector<std::int64_t> amounts = amounts_since(tables, name, from);
  return amounts.empty() ? 0 : *std::ranges::max_element(amounts);
}

void SemaphoreJudge::note_versions(const SimTables& tables) {
  for (const auto& [key, row] : tables.semaphores) seen_[{row.space, row.name}] = row.version;
  for (const auto& [key, row] : tables.quotas) {
    seen_[{row.of == model::QuotaOf::Pool ? kPoolTokens : kSpaceTokens, row.name}] = row.version;
  }
}

void SemaphoreJudge::begin_anew(const SimTables& tables) {
  held_.clear();
  sums_.clear();
  for (const auto& [id, run] : tables.runs) note(tables, id);
  raised_.clear();
  seen_.clear();
  note_versions(tables);
}

}  // namespace rota::sim
