// The store in memory, for unit tests and tools: same meaning as MySQL's, held by one contract suite.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "master/store/history_store.h"
#include "master/store/log_store.h"
#include "master/store/node_store.h"
#include "master/store/reader.h"
#include "master/store/retention_store.h"
#include "master/store/store.h"
#include "master/store/zone_source.h"

namespace rota::master::store {

struct MemoryTables;

/// All faces of the store on one set of tables. Thread: any (one lock).
class MemoryStore : public Store,
                    public Office,
                    public Reader,
                    public LogStore,
                    public RetentionStore,
                    public HistoryStore,
                    public NodeStore {
 public:
  /// Without `zones` every zone name means UTC.
  explicit MemoryStore(ZoneSource zones = {});
  /// With a copy of these rows.
  explicit MemoryStore(const MemoryTables& tables);
  ~MemoryStore() override;

  /// The next apply ends like this: Failed leaves nothing, Unknown applies when `applied`.
  void fail_next(ApplyOutcome outcome, bool applied = false);
  /// While down every call fails with Unavailable (apply: Failed).
  void set_down(bool down);

  // Store
  ApplyResult apply(Epoch epoch, const core::Changes& changes) override;

  // Office
  Result<Marks> read_marks() override;
  Result<std::string> settle_uuid(const std::string& proposed) override;
  Result<Millis> settle_grant(Millis own) override;
  Result<void> claim(const Claim& claim) override;
  Result<void> settle_zookeeper(Epoch epoch, const KnownZookeeper& zookeeper) override;
  Result<void> beat(Epoch epoch) override;
  Result<std::int64_t> count_held() override;
  Result<core::Recovered> recover() override;
  Result<std::vector<model::Gap>> gaps_beyond(WallTime moment) override;
  Result<void> rewind(const Rewind& rewind) override;
  Result<void> probe() override;

  // Reader
  Result<std::vector<RunRow>> list_runs(const RunQuery& query) override;
  Result<std::map<JobId, RunRow>> newest_runs_of(const std::vector<JobId>& jobs) override;
  Result<RunRow> get_run(RunId id) override;
  Result<std::vector<model::AttemptRow>> attempts_of(RunId id) override;
  Result<std::string> greatest_own_key(const std::string& principal) override;
  Result<std::optional<RunId>> run_of_key(const std::string& principal, const std::string& key,
                                          std::string* request_hash) override;
  Result<std::vector<JobRow>> list_jobs(const std::string& space, const std::string& prefix,
                                        std::int32_t limit, const std::string& after) override;
  Result<JobRow> get_job(const std::string& space, const std::string& name) override;
  Result<JobRow> last_deleted(const std::string& space, const std::string& name) override;
  Result<std::vector<model::CalendarRow>> list_calendars(const std::string& space, const std::string& prefix,
                                                         std::int32_t limit) override;
  Result<std::vector<model::CalendarRow>> calendar_versions(const std::string& space,
                                                            const std::string& name) override;
  Result<std::vector<model::QuotaRow>> list_quotas(model::QuotaOf of, std::int32_t limit) override;
  Result<std::vector<model::QuotaRow>> quota_versions(model::QuotaOf of, const std::string& name) override;
  Result<std::vector<model::SettingRow>> newest_settings() override;
  Result<std::vector<model::SettingRow>> setting_versions(const std::string& name) override;
  Result<std::vector<model::ScaleChange>> list_scaling(const std::string& pool, std::int64_t before,
                                                       std::int32_t limit) override;
  Result<std::vector<model::Notification>> list_notifications(bool open, std::int32_t limit) override;
  Result<std::vector<model::Notification>> notifications_after(std::int64_t id, std::int32_t limit) override;
  Result<std::vector<model::ReceiverRow>> receivers() override;
  Result<std::vector<model::LateRow>> list_late(JobId job, const std::string& space, WallTime since,
                                                std::int32_t limit) override;
  Result<std::vector<model::LateRow>> late_of(JobId job) override;
  Result<std::vector<model::LateRow>> late_terms() override;
  Result<std::optional<model::JobPace>> pace_of(JobId job) override;
  Result<std::vector<model::SemaphoreRow>> list_semaphores(const std::string& space,
                                                           const std::string& prefix,
                                                           std::int32_t limit) override;
  Result<std::vector<model::SemaphoreRow>> semaphore_versions(const std::string& space,
                                                              const std::string& name) override;
  Result<std::shared_ptr<const model::JobDefinition>> definition_of(JobId job,
                                                                    JobVersion version) override;
  Result<std::vector<model::WorkerDeath>> deaths_of(const std::string& worker_id) override;
  Result<std::vector<model::WorkerHold>> holds_of(const std::string& worker_id, std::int32_t limit) override;
  Result<std::vector<model::WorkerMinute>> worker_minutes(const std::string& worker, WallTime since) override;
  Result<std::vector<model::PoolMinute>> pool_minutes(WallTime since) override;
  Result<std::vector<FamilyRow>> family_of(RunId root, std::int32_t limit) override;
  Result<std::vector<model::ChildRow>> children_of(const std::vector<RunId>& parents) override;
  Result<std::vector<model::ChildRow>> child_rows_of(const std::vector<RunId>& runs) override;
  Result<std::vector<RunId>> owed_among(const std::vector<RunId>& parents) override;
  Result<std::vector<model::Freeze>> freezes() override;
  Result<std::vector<model::WorkerStart>> starts_after(std::int64_t number, std::int32_t limit) override;
  Result<std::vector<core::WorkerLife>> lives_of(const std::string& worker_id,
                                                 std::int32_t limit) override;
  Result<std::optional<model::RunNote>> note_of(RunId id) override;
  Result<std::map<RunId, std::string>> checkpoints_of(const std::vector<RunId>& ids) override;

  Result<std::vector<RunId>> runs_among(const std::vector<RunId>& runs) override;
  Result<RunId> runs_gone_through() override;
  Result<std::optional<core::Watermark>> watermark() override;
  Result<std::vector<PastRewind>> rewinds() override;
  Result<std::vector<model::JobVersionRow>> versions_of(JobId job) override;
  Result<std::vector<model::Job>> saved_jobs(JobId after, std::int32_t limit) override;
  Result<std::vector<model::Run>> tick_runs_of(JobId job, WallTime after, WallTime through,
                                               std::int32_t limit) override;
  Result<std::vector<model::Gap>> gaps_of(JobId job) override;
  Result<std::vector<model::Gap>> newest_gaps_of(JobId job, std::int32_t limit) override;
  Result<std::vector<GapSum>> sum_gaps(const GapQuery& query) override;
  Result<std::vector<TermRow>> terms_through(Epoch epoch, std::int32_t limit) override;
  Result<std::vector<model::Run>> runs_after(RunId after, std::int32_t limit) override;
  Result<std::vector<model::AttemptRow>> attempts_after(RunId run, AttemptNo attempt,
                                                        std::int32_t limit) override;
  Result<std::map<RunId, WallTime>> pruned_among(const std::vector<RunId>& runs) override;
  Result<std::vector<model::JobVersionRow>> versions_of_jobs(const std::vector<JobId>& jobs) override;
  Result<std::vector<model::Run>> tick_runs_of_jobs(const std::vector<JobId>& jobs, WallTime after,
                                                    WallTime through, std::int32_t limit) override;
  Result<std::vector<model::Gap>> gaps_of_jobs(const std::vector<JobId>& jobs,
                                               std::int32_t limit) override;
  Result<std::map<JobId, WallTime>> gone_through_of_jobs(const std::vector<JobId>& jobs) override;
  Result<std::int64_t> count_saved_jobs() override;
  Result<std::vector<model::Run>> runs_of_job_after(JobId job, RunId after, std::int32_t limit) override;
  Result<std::vector<model::Run>> runs_of_job_up_to(JobId job, RunId last, std::int32_t limit) override;
  Result<std::optional<WallTime>> gone_through(JobId job) override;

  // RetentionStore
  Result<std::vector<LoggedRun>> logged_runs(const std::vector<RunId>& runs) override;
  Result<void> note_pruned(const std::vector<RunId>& runs, WallTime at) override;

  // HistoryStore
  Result<std::optional<Millis>> shortest_keep() override;
  Result<std::vector<PastRun>> past_runs(RunId after, std::int32_t limit) override;
  Result<std::vector<PastGap>> past_gaps(const GapKey& after, std::int32_t limit) override;
  Result<void> forget_through(const std::map<JobId, WallTime>& moments) override;
  Result<void> erase_runs(const std::vector<PastRun>& runs) override;
  Result<void> erase_gaps(const std::vector<GapKey>& gaps) override;

  // NodeStore
  Result<void> keep_minutes(const MinuteRows& rows) override;
  Result<std::map<std::string, core::WorkerWork>> work_since(WallTime minute, Epoch leader) override;
  Result<bool> erase_minutes(WallTime before) override;
  Result<std::int64_t> erase_lives(WallTime before, std::int32_t most) override;

  // LogStore
  Result<std::vector<std::int64_t>> append(const std::vector<LogChunk>& chunks) override;
  Result<LogSlice> read(model::AttemptKey attempt, LogStream stream, std::int64_t offset,
                        std::int64_t limit) override;
  Result<std::vector<StoredStream>> stored_of(const std::vector<RunId>& runs) override;
  Result<std::vector<RunId>> runs_with_logs(RunId after, std::int32_t limit) override;
  Result<std::vector<std::int64_t>> bytes_of(const std::vector<RunId>& runs) override;
  Result<bool> erase(const std::vector<RunId>& runs, std::int32_t most) override;

 private:
  struct Fault {
    ApplyOutcome outcome = ApplyOutcome::Failed;
    bool applied = false;
  };

  Result<void> up() const;
  const ZoneSource zones_;
  mutable std::mutex mutex_;
  std::unique_ptr<MemoryTables> tables_;
  std::optional<Fault> fault_;
  bool down_ = false;
};

}  // namespace rota::master::store
