// Whether routes keep what they say, judged where the leader's view must be the truth: in a healed world in
// which no worker and no leader has changed for a while. Uses none of the leader's orders.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/model/job.h"
#include "common/model/run.h"
#include "master/core/effect.h"

namespace rota::sim {

class SimWorker;
class World;

/// Thread: one. Owned by the world.
class RouteWatch {
 public:
  explicit RouteWatch(World& world) : world_(world) {}

  /// Looks again and again.
  void begin();
  /// An attempt on this worker ended.
  void note_end(std::size_t worker);
  /// An attempt starts there. Empty, or how that breaks its job's route.
  std::string judge(const model::JobDefinition& definition, const master::core::DispatchItem& item,
                    std::size_t taker);

 private:
  void look();
  std::string signs() const;
  std::vector<std::size_t> candidates(const model::JobRules& rules, const std::string& handler) const;
  bool is_surely_free(std::size_t worker) const;
  bool is_calm() const;
  /// Where another worker than the last one is wanted, without that one. False: nothing can be said.
  bool leave_out_last(const model::RetryRule& rule, model::AttemptKey attempt, std::size_t taker,
                      std::vector<std::size_t>& among) const;
  std::string judge_preference(const model::JobRules& rules, const master::core::DispatchItem& item,
                               const model::Run& row, std::size_t taker) const;
  std::string judge_rank(const model::JobDefinition& definition, const std::vector<std::size_t>& among,
                         std::size_t taker);
  std::string judge_hash(const std::string& key, const std::vector<std::size_t>& among, std::size_t taker);

  World& world_;
  std::string signs_;
  MonoTime changed_{};
  std::map<std::size_t, MonoTime> last_end_;
  /// Which worker got a key, and which others could have.
  std::map<std::string, std::map<std::set<std::string>, std::string>> homes_;
};

}  // namespace rota::sim
