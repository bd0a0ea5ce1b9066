#include "master/core/tables/work_table.h"

namespace rota::master::core {

WorkerWork* WorkTable::work_of(const std::string& worker) {
  const auto found = work_.find(worker);
  if (found != work_.end()) return &found->second;
  return work_.size() < kWorkersCounted ? &work_[worker] : nullptr;
}

void WorkTable::note_given(const std::string& worker, const std::string& pool) {
  if (WorkerWork* work = work_of(worker)) ++work->scheduled;
  if (last_.size() >= kPoolsCounted && !last_.contains(pool)) return;
  Last& last = last_[pool];
  if (last.runs.size() == kSharedRuns) {
    Counts::value_type* const oldest = last.runs.front();
    last.runs.pop_front();
    if (--oldest->second == 0) last.counts.erase(last.counts.find(oldest->first));
  }
  Counts::value_type& count = *last.counts.try_emplace(worker, 0).first;
  ++count.second;
  last.runs.push_back(&count);
}

void WorkTable::note_end(const std::string& worker, bool has_succeeded) {
  WorkerWork* work = work_of(worker);
  if (work == nullptr) return;
  ++(has_succeeded ? work->succeeded : work->failed);
}

WorkerWork WorkTable::of(const std::string& worker) const {
  const auto found = work_.find(worker);
  return found == work_.end() ? WorkerWork{} : found->second;
}

WorkerShare WorkTable::share_of(const std::string& worker, const std::string& pool) const {
  const auto found = last_.find(pool);
  if (found == last_.end()) return {};
  const auto count = found->second.counts.find(worker);
  return {count == found->second.counts.end() ? 0 : count->second,
          static_cast<std::int32_t>(found->second.runs.size())};
}

}  // namespace rota::master::core
