#include "truth.h"

#include <algorithm>

#include "worker_node.h"

namespace rota::sim {

using model::RunState;

namespace {

constexpr Millis kEndAfterThaw{100};

std::string named(model::AttemptKey key) {
  return "run " + std::to_string(key.run.value) + " attempt " + std::to_string(key.attempt);
}

}  // namespace

std::string Truth::begin(const Start& start) {
  const bool tainted = store_.is_tainted(start.key.run) || store_.is_tainted(start.job);
  std::string wrong;
  if (!tainted) {
    if (!store_.was_dispatched(start.key)) wrong = "P6: " + named(start.key) + " starts without its row";
    if (wrong.empty() && ever_.contains(start.key)) wrong = "P6: " + named(start.key) + " starts a second time";
    if (wrong.empty()) wrong = judge_beside(start);
    if (wrong.empty()) wrong = judge_before(start);
    if (wrong.empty()) wrong = judge_tokens(start);
  }
  if (wrong.empty()) wrong = judge_demand(start);
  ever_[start.key] = start;
  live_[start.key] = start.job;
  return wrong;
}

std::string Truth::judge_beside(const Start& start) const {
  std::vector<model::AttemptKey> of_job;
  for (const auto& [other, other_job] : live_) {
    const bool of_run = other.run == start.key.run;
    if (of_run && !stood_still_beside(other, start.at)) {
      return "P4: " + named(start.key) + " starts beside " + named(other);
    }
    if (!of_run && other_job == start.job && start.at_once > 0) of_job.push_back(other);
  }
  if (!of_job.empty()) marks_.hit("runs_of_a_job_side_by_side");
  // Those that stood still may have been given up, and are told to end only where they are too many.
  const auto most = static_cast<std::size_t>(start.at_once);
  if (of_job.size() < most || of_job.empty()) return "";
  std::erase_if(of_job, [&](model::AttemptKey other) { return stood_still_beside(other, start.at); });
  if (of_job.size() < most || of_job.empty()) return "";
  return "P4: " + named(start.key) + " overlaps " + named(of_job.back()) + " of the same job, which allows " +
         std::to_string(start.at_once) + " at once";
}

/// All that lives on its host, whatever leaders and databases remember of it.
std::string Truth::judge_demand(const Start& start) const {
  model::Demand sum = start.demand;
  for (const auto& [other, job] : live_) {
    const Start& begun = ever_.at(other);
    if (begun.worker != start.worker || other == start.key) continue;
    sum.slots += begun.demand.slots;
    model::add_amounts(sum.needs, begun.demand.needs);
  }
  const bool is_wide = !start.demand.is_plain();
  if (is_wide) marks_.hit("wide_run_started");
  if (is_wide && sum.slots == start.slots) marks_.hit("all_slots_taken_with_a_wide_run");
  if (sum.slots > start.slots) {
    return "P48: " + named(start.key) + " starts, and with it " + std::to_string(sum.slots) + " slots are taken, of " +
           std::to_string(start.slots);
  }
  for (const auto& [name, taken] : sum.needs) {
    const std::int64_t most = model::amount_of(start.offers, name);
    if (start.demand.needs.contains(name) && taken == most) marks_.hit("all_of_an_amount_taken");
    if (taken <= most) continue;
    return "P48: " + named(start.key) + " starts, and with it " + std::to_string(taken) + " of " + name +
           " are taken, of " + std::to_string(most);
  }
  return "";
}

/// Counts that may have been in force since the oldest of those alive was sent, by the batch that said so.
std::string Truth::judge_tokens(const Start& start) const {
  for (const auto& [name, own] : start.uses) {
    std::vector<std::pair<model::AttemptKey, std::int32_t>> others;
    std::int64_t sum = own;
    std::int32_t since = store_.amount_when_sent(start.key, name);
    for (const auto& [other, job] : live_) {
      const Start& begun = ever_.at(other);
      const auto uses = begun.uses.find(name);
      if (uses == begun.uses.end() || other.run == start.key.run || store_.is_tainted(other.run)) continue;
      others.emplace_back(other, uses->second);
      sum += uses->second;
      since = std::min(since, store_.amount_when_sent(other, name));
    }
    if (!others.empty() && name.first.front() != '/') marks_.hit("tokens_of_lives_judged");
    const std::int64_t most = store_.most_tokens(name, since);
    for (const auto& [other, count] : others) {
      if (sum > most && stood_still_beside(other, start.at)) sum -= count;
    }
    if (sum <= most) continue;
    return tokens_named(name) + ": " + named(start.key) + " starts, and with it " + std::to_string(sum) +
           " live, of at most " + std::to_string(most);
  }
  return "";
}

bool Truth::stood_still_beside(model::AttemptKey other, MonoTime now) const {
  const auto still = still_until_.find(ever_.at(other).worker);
  if (still == still_until_.end() || now >= still->second + kEndAfterThaw) return false;
  if (ever_.at(other).at >= still->second) return false;  // begun after it
  followed_.insert(other);
  return true;
}

std::string Truth::end(model::AttemptKey key, MonoTime now) {
  live_.erase(key);
  if (followed_.erase(key) == 0) return "";
  marks_.hit("followed_while_its_host_stood_still");
  const MonoTime thawed = still_until_.at(ever_.at(key).worker);
  if (now <= thawed + kEndAfterThaw) return "";
  return "P4: " + named(key) + " runs on beside another " + std::to_string(floor_ms(now - thawed).count()) +
         " ms after its host stood still";
}

void Truth::forget(model::AttemptKey key) {
  live_.erase(key);
  followed_.erase(key);
}

/// The attempts of the same run that really began earlier, whatever the leader knows.
std::string Truth::judge_before(const Start& start) const {
  std::int32_t lost = 0;
  for (auto at = ever_.lower_bound({start.key.run, 0});
       at != ever_.end() && at->first.run == start.key.run; ++at) {
    const auto how = ended_.find(at->first);
    const auto ended = outcomes_.find(at->first);
    const bool retryable = how != ended_.end() &&
                           (how->second == RunState::Failed || how->second == RunState::TimedOut);
    if (start.loss == model::LossPolicy::Never && !retryable) {
      return "P5: " + named(start.key) + " follows " + named(at->first) + ", which never may be followed";
    }
    if (start.loss == model::LossPolicy::Confirm && !retryable && was_given_up_unasked(at->first)) {
      return "P5: " + named(start.key) + " follows " + named(at->first) + ", and nobody has said that it is over";
    }
    // A kill may have been a hand-over, which is no loss.
    if (!retryable && (how == ended_.end() || how->second != RunState::Killed)) ++lost;
    if (lost >= start.loss_most) {
      return "P5: " + named(start.key) + " follows " + std::to_string(lost) + " losses, its job allows " +
             std::to_string(start.loss_most);
    }
    if (ended == outcomes_.end() || ended->second != RunState::Succeeded) continue;
    if (!was_absent_since(at->second.worker, at->second.at)) {
      return "P12: " + named(start.key) + " reruns a success whose worker was never away";
    }
    marks_.hit("success_given_up_at_fence");
  }
  return "";
}

/// Whether the row counts it as lost because of the worker's absence, not because of an operator's confirmation.
bool Truth::was_given_up_unasked(model::AttemptKey key) const {
  if (confirmed_.contains(key)) return false;
  const auto row = store_.attempts().find({key.run, key.attempt});
  if (row == store_.attempts().end() || row->second.late) return false;
  const model::Outcome& outcome = row->second.outcome;
  return outcome.reason == model::Reason::WorkerLost && outcome.started == WallTime{};
}

void Truth::note_confirmed(std::size_t worker) {
  for (const auto& [key, start] : ever_) {
    if (start.worker == worker) confirmed_.insert(key);
  }
}

void Truth::note_node(const zk::NodeTree::Change& change, MonoTime now) {
  using What = zk::Event::Change;
  if (change.what == What::Created && change.path.starts_with(kWorkersFolder + "/")) {
    const std::string name = change.path.substr(kWorkersFolder.size() + 1);
    const zk::Node& node = *zookeeper_.tree().find(change.path);
    if (node.stat.ephemeral_owner == 0) return;
    const std::size_t host = host_of_node(name, node.data);
    if (!is_standing(host)) last_absent_[host] = now;  // until now
    standing_[change.path] = host;
  }
  if (change.what != What::Deleted) return;
  const auto gone = standing_.extract(change.path);
  if (gone.empty()) return;
  if (!is_standing(gone.mapped())) last_absent_[gone.mapped()] = now;
}

bool Truth::is_standing(std::size_t worker) const {
  return std::ranges::any_of(standing_, [&](const auto& each) { return each.second == worker; });
}

void Truth::note_loss(MonoTime now) {
  for (const auto& [path, host] : standing_) last_absent_[host] = now;
  standing_.clear();
  const auto names = zookeeper_.tree().list(kWorkersFolder).value_or(std::vector<std::string>{});
  for (const std::string& name : names) {
    note_node({zk::Event::Change::Created, kWorkersFolder + "/" + name}, now);
  }
}

bool Truth::was_absent_since(std::size_t worker, MonoTime since) const {
  const auto found = last_absent_.find(worker);
  return found != last_absent_.end() && found->second >= since;
}

std::string Truth::judge_outcomes() const {
  for (const auto& [key, state] : outcomes_) {
    if (store_.is_tainted(key.run) || store_.is_lost(key.run)) continue;
    if (store_.attempts().contains({key.run, key.attempt})) continue;
    const auto run = store_.runs().find(key.run);
    if (run == store_.runs().end()) return "P12: the run of a result is gone, " + named(key);
    const model::RunProgress& progress = run->second.progress;
    if (progress.attempt != key.attempt) return "P12: a result is not stored, " + named(key);
    // A kill that no leader remembers asking for (by a drain that was resumed since) counts as a loss.
    const bool same = progress.state == state || state == RunState::Lost ||
                      (state == RunState::Killed && progress.state == RunState::Lost);
    if (!same) {
      return "P12: " + named(key) + " was " + std::string(name_of(state)) + ", and " +
             std::string(name_of(progress.state)) + " is stored (" + std::string(name_of(progress.reason)) + ")";
    }
  }
  return "";
}

}  // namespace rota::sim
