#include "client/cluster.h"

#include <fmt/format.h>

#include "client/cluster_calls.h"
#include "common/base/random.h"
#include "common/model/request_key.h"

namespace rota::client {

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)), connection_(std::make_unique<Connection>(options_)) {}

Cluster::~Cluster() = default;

namespace {

template <typename Answer>
Result<Answer> refusal_of(const Answer& answer) {
  if (!answer.__isset.error) return answer;
  return fail(rpc::from_wire(answer.error).error);
}

}  // namespace

Result<thrift::SubmitResult> Cluster::submit(thrift::SubmitItem item) {
  if (item.request_key.empty()) item.request_key = fresh_request_key();
  auto answer = change<thrift::SubmitResult>(
      Repeat::Harmless, [&](auto& client, auto& out, const auto& head) {
        client.submit(out, head, item);
      });
  return answer ? refusal_of(*answer) : answer;
}

Result<std::vector<thrift::SubmitResult>> Cluster::submit_many(
    std::vector<thrift::SubmitItem> items) {
  for (thrift::SubmitItem& item : items) {
    if (item.request_key.empty()) item.request_key = fresh_request_key();
  }
  return change_each<thrift::SubmitItem, thrift::SubmitResult>(
      Repeat::Harmless, items, [](const auto& asked) {
        return [&asked](auto& client, auto& out, const auto& head) { client.submit_many(out, head, asked); };
      });
}

Result<std::vector<thrift::JobEdited>> Cluster::apply_jobs(
    const std::vector<thrift::JobEdit>& edits, bool dry_run) {
  const bool is_versioned =
      std::ranges::any_of(edits, [](const thrift::JobEdit& edit) { return edit.__isset.expected_version; });
  return change_each<thrift::JobEdit, thrift::JobEdited>(
      dry_run || !is_versioned ? Repeat::Harmless : Repeat::Never, edits, [dry_run](const auto& asked) {
        return [&asked, dry_run](auto& client, auto& out, const auto& head) {
          client.apply_jobs(out, head, asked, dry_run);
        };
      });
}

Result<thrift::SubmitResult> Cluster::run_now(const std::string& space, const std::string& name,
                                              const std::map<std::string, std::string>& parameters,
                                              std::string request_key) {
  const std::string key = request_key.empty() ? fresh_request_key() : std::move(request_key);
  auto answer = change<thrift::SubmitResult>(
      Repeat::Harmless, [&](auto& client, auto& out, const auto& head) {
        client.run_now(out, head, space, name, parameters, key);
      });
  return answer ? refusal_of(*answer) : answer;
}

Result<thrift::JobEdited> Cluster::set_paused(const std::string& space, const std::string& name,
                                              bool paused, const std::string& why) {
  return change<thrift::JobEdited>(Repeat::Harmless,
                                   [&](auto& client, auto& out, const auto& head) {
                                     client.set_paused(out, head, space, name, paused, why);
                                   });
}

Result<thrift::JobEdited> Cluster::delete_job(const std::string& space, const std::string& name,
                                              const std::string& why) {
  auto deleted = change<thrift::JobEdited>(Repeat::HarmlessDeletion,
                                           [&](auto& client, auto& out, const auto& head) {
                                             client.delete_job(out, head, space, name, why);
                                           });
  if (deleted && deleted->what.empty()) deleted->__set_what("deleted");
  return deleted;
}

Result<thrift::JobEdited> Cluster::undelete_job(const std::string& space, const std::string& name) {
  return change<thrift::JobEdited>(Repeat::Never, [&](auto& client, auto& out, const auto& head) {
    client.undelete_job(out, head, space, name);
  });
}

Result<std::vector<thrift::CalendarEdited>> Cluster::apply_calendars(
    const std::vector<thrift::CalendarEdit>& edits, bool dry_run) {
  const bool is_versioned =
      std::ranges::any_of(edits, [](const auto& edit) { return edit.__isset.expected_version; });
  return change_each<thrift::CalendarEdit, thrift::CalendarEdited>(
      dry_run || !is_versioned ? Repeat::Harmless : Repeat::Never, edits, [dry_run](const auto& asked) {
        return [&asked, dry_run](auto& client, auto& out, const auto& head) {
          client.apply_calendars(out, head, asked, dry_run);
        };
      });
}

Result<thrift::CalendarEdited> Cluster::delete_calendar(const std::string& space, const std::string& name,
                                                        const std::string& why) {
  auto deleted = change<thrift::CalendarEdited>(Repeat::HarmlessDeletion,
                                                [&](auto& client, auto& out, const auto& head) {
                                                  client.delete_calendar(out, head, space, name, why);
                                                });
  if (deleted && deleted->what.empty()) deleted->__set_what("deleted");
  return deleted;
}

Result<std::vector<thrift::CalendarInfo>> Cluster::list_calendars(const std::string& space,
                                                                  const std::string& prefix,
                                                                  std::int32_t limit) {
  return query<std::vector<thrift::CalendarInfo>>([&](auto& client, auto& out, const auto& head) {
    client.list_calendars(out, head, space, prefix, limit);
  });
}

Result<thrift::CalendarInfo> Cluster::get_calendar(const std::string& space, const std::string& name) {
  return query<thrift::CalendarInfo>([&](auto& client, auto& out, const auto& head) {
    client.get_calendar(out, head, space, name);
  });
}

Result<std::vector<thrift::CalendarDay>> Cluster::preview_calendar(const thrift::PreviewRequest& request) {
  return query<std::vector<thrift::CalendarDay>>([&](auto& client, auto& out, const auto& head) {
    client.preview_calendar(out, head, request);
  });
}

Result<std::string> Cluster::cancel_run(std::int64_t run, const std::string& why) {
  return change<std::string>(Repeat::Harmless, [&](auto& client, auto& out, const auto& head) {
    client.cancel_run(out, head, run, why);
  });
}

Result<thrift::DrainAnswer> Cluster::drain_worker(const std::string& worker, Millis deadline,
                                                  const std::string& why) {
  return change<thrift::DrainAnswer>(Repeat::Harmless,
                                     [&](auto& client, auto& out, const auto& head) {
                                       client.drain_worker(out, head, worker, deadline.count(), why);
                                     });
}

Result<thrift::DrainAnswer> Cluster::resume_worker(const std::string& worker,
                                                   const std::string& why) {
  return change<thrift::DrainAnswer>(Repeat::Harmless,
                                     [&](auto& client, auto& out, const auto& head) {
                                       client.resume_worker(out, head, worker, why);
                                     });
}

Result<bool> Cluster::forget_worker(const std::string& worker) {
  return change<bool>(Repeat::Harmless, [&](auto& client, auto& out, const auto& head) {
    client.forget_worker(head, worker);
    out = true;
  });
}

Result<thrift::DeathAnswer> Cluster::confirm_dead(const std::string& worker, const std::string& why,
                                                  bool dry_run) {
  return change<thrift::DeathAnswer>(Repeat::Harmless, [&](auto& client, auto& out, const auto& head) {
    client.confirm_dead(out, head, worker, why, dry_run);
  });
}

Result<thrift::FreezeInfo> Cluster::begin_freeze(const std::string& space, WallTime until,
                                                 const std::string& why) {
  return change<thrift::FreezeInfo>(Repeat::Harmless, [&](auto& client, auto& out, const auto& head) {
    client.begin_freeze(out, head, space, to_ms(until), why);
  });
}

Result<thrift::FreezeInfo> Cluster::end_freeze(const std::string& space) {
  return change<thrift::FreezeInfo>(Repeat::HarmlessDeletion, [&](auto& client, auto& out, const auto& head) {
    client.end_freeze(out, head, space);
  });
}

Result<std::vector<thrift::FreezeInfo>> Cluster::list_freezes() {
  return query<std::vector<thrift::FreezeInfo>>(
      [&](auto& client, auto& out, const auto& head) { client.list_freezes(out, head); });
}

Result<thrift::LimitsEdited> Cluster::set_limits(const thrift::LimitsEdit& edit) {
  const Repeat repeat = edit.__isset.expected_version ? Repeat::Never : Repeat::Harmless;
  return change<thrift::LimitsEdited>(
      repeat, [&](auto& client, auto& out, const auto& head) { client.set_limits(out, head, edit); });
}

Result<std::vector<thrift::LimitsInfo>> Cluster::list_limits(const std::string& side,
                                                             const std::string& prefix) {
  return query<std::vector<thrift::LimitsInfo>>(
      [&](auto& client, auto& out, const auto& head) { client.list_limits(out, head, side, prefix); });
}

Result<std::vector<thrift::LateInfo>> Cluster::list_late(const std::string& space, const std::string& job,
                                                         std::int32_t limit) {
  thrift::LateQuery asked;
  asked.__set_space(space);
  asked.__set_job(job);
  asked.__set_limit(limit);
  return query<std::vector<thrift::LateInfo>>(
      [&](auto& client, auto& out, const auto& head) { client.list_late(out, head, asked); });
}

Result<std::vector<thrift::PoolScaleInfo>> Cluster::list_scaling(const std::string& prefix) {
  return query<std::vector<thrift::PoolScaleInfo>>(
      [&](auto& client, auto& out, const auto& head) { client.list_scaling(out, head, prefix); });
}

Result<std::vector<thrift::ScaleChangeInfo>> Cluster::list_scale_changes(const std::string& pool,
                                                                         std::int32_t limit) {
  thrift::ScaleQuery asked;
  asked.__set_pool(pool);
  asked.__set_limit(limit);
  return query<std::vector<thrift::ScaleChangeInfo>>(
      [&](auto& client, auto& out, const auto& head) { client.list_scale_changes(out, head, asked); });
}

Result<std::vector<thrift::NotificationInfo>> Cluster::list_notifications(bool only_open,
                                                                          std::int32_t limit) {
  thrift::NotificationQuery asked;
  asked.__set_only_open(only_open);
  asked.__set_limit(limit);
  return query<std::vector<thrift::NotificationInfo>>(
      [&](auto& client, auto& out, const auto& head) { client.list_notifications(out, head, asked); });
}

Result<std::string> Cluster::test_receiver(const std::string& receiver) {
  return change<std::string>(Repeat::Never, [&](auto& client, auto& out, const auto& head) {
    client.test_receiver(out, head, receiver);
  });
}

Result<std::vector<thrift::SettingInfo>> Cluster::list_settings(const std::string& name, bool here) {
  return query<std::vector<thrift::SettingInfo>>(
      [&](auto& client, auto& out, const auto& head) { client.list_settings(out, head, name, here); });
}

/// Twice the same value is one version; what depends on the version that stands is not repeated.
Result<thrift::SettingEdited> Cluster::set_setting(const thrift::SettingEdit& edit) {
  const bool is_relative = edit.__isset.expected_version || edit.__isset.to_version;
  return change<thrift::SettingEdited>(
      is_relative ? Repeat::Never : Repeat::Harmless,
      [&](auto& client, auto& out, const auto& head) { client.set_setting(out, head, edit); });
}

Result<std::vector<thrift::SettingVersion>> Cluster::setting_history(const std::string& name) {
  return query<std::vector<thrift::SettingVersion>>(
      [&](auto& client, auto& out, const auto& head) { client.setting_history(out, head, name); });
}

Result<thrift::SemaphoreEdited> Cluster::set_semaphore(const thrift::SemaphoreEdit& edit) {
  const Repeat repeat = edit.__isset.expected_version ? Repeat::Never : Repeat::Harmless;
  return change<thrift::SemaphoreEdited>(
      repeat, [&](auto& client, auto& out, const auto& head) { client.set_semaphore(out, head, edit); });
}

Result<thrift::SemaphoreEdited> Cluster::delete_semaphore(const std::string& space, const std::string& name) {
  return change<thrift::SemaphoreEdited>(
      Repeat::HarmlessDeletion,
      [&](auto& client, auto& out, const auto& head) { client.delete_semaphore(out, head, space, name); });
}

Result<std::vector<thrift::SemaphoreInfo>> Cluster::list_semaphores(const std::string& space,
                                                                    const std::string& prefix) {
  return query<std::vector<thrift::SemaphoreInfo>>(
      [&](auto& client, auto& out, const auto& head) {
        client.list_semaphores(out, head, space, prefix, 0);
      });
}

Result<thrift::SemaphoreInfo> Cluster::get_semaphore(const std::string& space, const std::string& name) {
  return query<thrift::SemaphoreInfo>(
      [&](auto& client, auto& out, const auto& head) { client.get_semaphore(out, head, space, name); });
}

Result<thrift::TickAnswer> Cluster::explain_tick(const std::string& space, const std::string& name,
                                                 WallTime at) {
  return query<thrift::TickAnswer>([&](auto& client, auto& out, const auto& head) {
    client.explain_tick(out, head, space, name, to_ms(at));
  });
}

Result<std::vector<thrift::JobInfo>> Cluster::list_jobs(const std::string& space,
                                                        const std::string& prefix, std::int32_t limit,
                                                        const std::string& after) {
  return query<std::vector<thrift::JobInfo>>([&](auto& client, auto& out, const auto& head) {
    client.list_jobs(out, head, space, prefix, limit, after);
  });
}

Result<void> Cluster::each_job(const std::string& space, const std::string& prefix, std::int32_t page,
                               const std::function<bool(const thrift::JobInfo&)>& wants_more) {
  constexpr std::int32_t kMostAtOnce = 1000;
  const std::int32_t limit = std::clamp(page, 1, kMostAtOnce);
  for (std::string after;;) {
    const auto jobs = list_jobs(space, prefix, limit, after);
    if (!jobs) return fail(jobs.error());
    if (!jobs->empty() && !after.empty() && jobs->front().definition.name <= after) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("the masters are of a version that lists the first {} jobs alone; upgrade "
                              "them, or give the beginning of names", limit));
    }
    for (const thrift::JobInfo& job : *jobs) {
      if (!wants_more(job)) return {};
    }
    if (jobs->size() < static_cast<std::size_t>(limit)) return {};
    after = jobs->back().definition.name;
  }
}

Result<thrift::JobInfo> Cluster::get_job(const std::string& space, const std::string& name) {
  return query<thrift::JobInfo>([&](auto& client, auto& out, const auto& head) {
    client.get_job(out, head, space, name);
  });
}

Result<std::vector<thrift::GapInfo>> Cluster::list_gaps(const std::string& space,
                                                        const std::string& name,
                                                        std::int32_t limit) {
  return query<std::vector<thrift::GapInfo>>([&](auto& client, auto& out, const auto& head) {
    client.list_gaps(out, head, space, name, limit);
  });
}

Result<std::vector<thrift::RunInfo>> Cluster::list_runs(const thrift::RunFilter& filter) {
  return query<std::vector<thrift::RunInfo>>([&](auto& client, auto& out, const auto& head) {
    client.list_runs(out, head, filter);
  });
}

Result<thrift::RunDetail> Cluster::get_run(std::int64_t run) {
  return query<thrift::RunDetail>(
      [&](auto& client, auto& out, const auto& head) { client.get_run(out, head, run); });
}

Result<thrift::LogSlice> Cluster::read_log(const thrift::LogRequest& request) {
  return query<thrift::LogSlice>(
      [&](auto& client, auto& out, const auto& head) { client.read_log(out, head, request); });
}

Result<thrift::Explanation> Cluster::explain(std::int64_t run) {
  return query<thrift::Explanation>(
      [&](auto& client, auto& out, const auto& head) { client.explain(out, head, run); });
}

Result<thrift::AttentionReport> Cluster::attention(const thrift::AttentionRequest& request) {
  return query<thrift::AttentionReport>(
      [&](auto& client, auto& out, const auto& head) { client.attention(out, head, request); });
}

Result<thrift::ClusterStatus> Cluster::cluster_status() {
  const auto once = [this] {
    return query<thrift::ClusterStatus>(
        [&](auto& client, auto& out, const auto& head) { client.cluster_status(out, head); });
  };
  // A master that is cut off from the others knows no leader; another master may.
  auto status = once();
  for (std::size_t i = 1; i < options_.masters.size() && status && status->leader.empty(); ++i) {
    connection_->move_on("");
    if (auto other = once()) status = std::move(other);
  }
  return status;
}

Result<thrift::VerifyReport> Cluster::verify(const thrift::VerifyRequest& request,
                                             Millis deadline) {
  return ask<thrift::VerifyReport>(
      false, Repeat::Read,
      [&](auto& client, auto& out, const auto& head) { client.verify(out, head, request); },
      deadline);
}

Result<thrift::NextFires> Cluster::next_fires(const thrift::Schedule& schedule, WallTime after,
                                              std::int32_t count, const std::string& space,
                                              const std::string& name) {
  return query<thrift::NextFires>([&](auto& client, auto& out, const auto& head) {
    client.next_fires(out, head, schedule, to_ms(after), count, space, name);
  });
}

thrift::JobDefinition command_definition(std::vector<std::string> argv) {
  thrift::JobDefinition definition;
  definition.work.argv = std::move(argv);
  return definition;
}

std::string fresh_request_key() {
  return fmt::format("{}{:012x}-{}", model::kOwnKeyPrefix, to_ms(SystemClock().wall()), random_hex(10));
}

}  // namespace rota::client
