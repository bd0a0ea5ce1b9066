// A script of batches for stores, and how a store looks from outside.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "master/core/effect.h"
#include "test/contract/agreement/dice.h"
#include "test/contract/store/backends.h"

namespace rota::agreement {

/// Batches as a leader could send them. Some contradict existing rows: a used tick, key, name or gap, a missing
/// run, a version of no job, an epoch that is not in force, the same batch again.
struct StoreStep {
  enum class Kind { Apply, TakeOffice, SettleGrant, SettleUuid, BackUp, GoBack };
  Kind kind = Kind::Apply;
  Epoch epoch;
  master::core::Changes changes;
  bool answer_is_lost = false;     ///< of an apply's or a takeover's last statement
  Millis grant{0};
  master::store::RunQuery query;   ///< for the look after the step
};

enum class StoreFaults { None, All };

/// Remembers what was proposed, so that later steps can use it. Thread: one.
class StoreScript {
 public:
  explicit StoreScript(std::uint64_t seed, StoreFaults faults = StoreFaults::None) : dice_(seed), faults_(faults) {}
  StoreStep next();
  /// The result of the step: later steps use (mostly) only what was stored.
  void note(const StoreStep& step, bool stored);

 private:
  bool add_fault(StoreStep& step);
  master::core::Changes random_changes();
  master::core::Watermark next_watermark();
  void add_job(master::core::Changes& changes);
  void add_edit(master::core::Changes& changes);
  void add_runs(master::core::Changes& changes);
  void add_updates(master::core::Changes& changes);
  void add_attempts(master::core::Changes& changes);
  void add_gaps(master::core::Changes& changes);
  void add_life(master::core::Changes& changes);
  void add_note(master::core::Changes& changes);
  void add_drain(master::core::Changes& changes);
  void add_start(master::core::Changes& changes);
  void add_death(master::core::Changes& changes);
  void add_calendar(master::core::Changes& changes);
  void add_semaphore(master::core::Changes& changes);
  void add_quota(master::core::Changes& changes);
  void add_setting(master::core::Changes& changes);
  void add_hold(master::core::Changes& changes);
  void add_late(master::core::Changes& changes);
  void add_scaling(master::core::Changes& changes);
  void add_notification(master::core::Changes& changes);
  model::RunProgress random_progress();
  model::Outcome random_outcome();
  std::int64_t random_job();
  std::int64_t stored_job();
  WallTime moment();

  Dice dice_;
  const StoreFaults faults_;
  bool went_back_ = false;      ///< a new leader is needed
  std::int64_t epoch_ = 1;
  std::int32_t semaphore_versions_ = 0;
  std::int32_t quota_versions_ = 0;
  std::int32_t setting_versions_ = 0;
  std::int64_t notifications_ = 0;
  std::int64_t scalings_ = 0;
  std::int64_t next_run_ = 100;
  std::vector<std::int64_t> runs_;
  std::set<std::int64_t> ended_;        ///< of them: what has ended stays so
  std::map<std::int64_t, JobVersion> versions_;   ///< newest of each job
  std::int64_t watermark_s_ = 0;
  std::int64_t starts_ = 0;
  master::core::Changes last_;
};

std::string text_of(const StoreStep& step);

/// An answer without its message.
std::string words_of(const master::store::ApplyResult& result);
template <typename T>
std::string words_of(const char* what, const Result<T>& result) {
  return std::string(what) + (result ? "" : " refused: " + std::string(rota::name_of(result.error().code))) + "\n";
}

/// Applies the step, or enters office.
std::string play(const master::store::testing::Backend& on, const StoreStep& step);
std::string take_office(master::store::Office& office, Epoch epoch);

/// Everything that can be read after the step.
std::string look(const master::store::testing::Backend& on, const StoreStep& step);

}  // namespace rota::agreement
