// Quotas of pools and namespaces, and what they count: slots that runs take of workers, runs that wait for
// slots, and that are unfinished; runs that began in each minute. A side that holds as many as it may is
// full: no run of it is sent then. When one of its runs leaves its worker, the pools in which others were
// passed over are looked at again.
//
// A run that takes several slots, whose turn has come and for which a limit has too little left, gets what
// becomes free before any other: the side keeps so many slots for it, others get what is left beside them.
// It keeps nothing while another is in its way, or while it lacks a worker or a token, so that no two wait
// for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/quota.h"

namespace rota::master::core {

/// Minutes of which firings are counted, of one namespace: late ticks count in the minute of their moment.
inline constexpr std::size_t kMinutesKept = 3000;

/// Times of jobs that do not say them, as a namespace's quota has had them from one version on.
struct DefaultTimes {
  std::int32_t version = 0;            ///< 0: none were ever set
  WallTime since{};                    ///< core time of that version
  Millis attempt{0}, run{0}, queue{0}; ///< 0: none
};

/// Thread: the Scheduler's. State alone counts runs.
class QuotaTable {
 public:
  /// One pool, or one namespace. Changed by QuotaTable alone.
  class Side {
   public:
    /// Version 0: nothing was ever set.
    const model::QuotaRow& newest() const { return newest_; }
    const model::Quota& quota() const { return newest_.quota; }
    std::int64_t held() const { return held_; }              ///< slots that its runs take of workers
    std::int64_t queued() const { return queued_; }          ///< runs that wait for a slot
    std::int64_t unfinished() const { return unfinished_; }  ///< of a namespace
    /// No run of it may be sent: as many as it may have are held, or the rest is kept for one.
    bool is_full() const { return !has_room(1); }
    /// So many slots more may be held by that run, beside what is kept for another.
    bool has_room(std::int64_t slots, RunId run = {}) const {
      const bool is_own = kept_for_ != RunId{} && kept_for_ == run;
      return quota().slots < 0 || held_ + slots + (is_own ? 0 : kept_slots_) <= quota().slots;
    }
    RunId kept_for() const { return kept_for_; }             ///< none: RunId{}
    /// Of a namespace with a limit of them: how many began in that minute, as far as this Term knows.
    std::int64_t fired_in(WallTime minute_of) const;

   private:
    friend class QuotaTable;
    model::QuotaRow newest_;
    std::vector<DefaultTimes> times_;  ///< each differs from the one before it
    std::int64_t held_ = 0, queued_ = 0, unfinished_ = 0;
    std::int64_t last_turn_ = 0;       ///< of a pool: the number of the last run that was sent there
    RunId kept_for_{};
    std::int64_t kept_slots_ = 0;
    std::set<std::string> passed_;     ///< of a full namespace: pools in which its runs were passed over
    std::map<std::int64_t, std::int64_t> fired_;  ///< by minute
  };
  using Sides = std::map<std::string, Side>;

  /// nullptr: it has no quota, and nothing of it is counted.
  const Side* find(model::QuotaOf of, const std::string& name) const;
  /// What is in force; without limits where none were set.
  const model::Quota& quota(model::QuotaOf of, const std::string& name) const;
  bool is_full(model::QuotaOf of, const std::string& name) const;
  /// By name: those with a quota or with runs.
  const Sides& all(model::QuotaOf of) const { return of == model::QuotaOf::Pool ? pools_ : spaces_; }
  std::size_t versions() const { return versions_; }
  /// A version that follows all others of its side. Runs that are held stay so.
  void put(model::QuotaRow row);
  /// Of jobs of this namespace that do not say them: now; by the change of that version (0: none); at that
  /// moment.
  const DefaultTimes& times_now(const std::string& space) const;
  const DefaultTimes& times_of(const std::string& space, std::int32_t version) const;
  const DefaultTimes& times_at(const std::string& space, WallTime at) const;
  /// A run of it begins, in that minute.
  void count_firing(const std::string& space, WallTime minute_of);

  /// Whether both sides have so many slots left for that run. If one has too few, it is kept for the run from
  /// now on, unless another is in its way, or the limit is lower than what it takes.
  bool ask_for(RunId run, const std::string& pool, const std::string& space, std::int64_t slots);
  /// Neither limit is lower than that.
  bool allows(const std::string& pool, const std::string& space, std::int64_t slots) const;
  /// It does not wait for a limit any more.
  void stop_keeping(RunId run);
  bool keeps_for(RunId run) const { return kept_.contains(run); }
  /// Runs for which a side is kept.
  std::vector<RunId> kept() const;
  /// Runs of that pool for which a side is kept.
  std::vector<RunId> kept_in(const std::string& pool) const;

  /// Its runs wait in that pool, where a slot was free, and it is full.
  void note_passed(const std::string& space, const std::string& pool);
  /// Pools in which a run may be sent now that was held back before.
  const std::set<std::string>& pools_to_look_at() const { return pools_to_look_at_; }
  std::set<std::string> take_pools() { return std::exchange(pools_to_look_at_, {}); }
  /// The number of the last run that was sent in that pool; 0: long ago.
  std::int64_t last_turn(const std::string& pool) const;

 private:
  friend class State;
  friend struct StateSurgery;          // tests break it on purpose

  void begin(const std::string& space) { ++spaces_[space].unfinished_; }
  void end(const std::string& space);
  void enter_queue(const std::string& pool, const std::string& space);
  void leave_queue(const std::string& pool, const std::string& space);
  void hold(const std::string& pool, const std::string& space, std::int64_t slots);
  void release(const std::string& pool, const std::string& space, std::int64_t slots);
  static void keep(Side& side, RunId run, std::int64_t slots);
  static void drop_idle(Sides& sides, Sides::iterator at);

  Sides pools_, spaces_;
  struct Kept {
    std::string pool, space;
  };
  std::map<RunId, Kept> kept_;         ///< runs for which one of their sides is kept, or both
  std::size_t versions_ = 0;           ///< quotas that were set
  std::int64_t turns_ = 0;
  std::set<std::string> pools_to_look_at_;
};

}  // namespace rota::master::core
