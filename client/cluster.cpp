#include "client/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>

#include "client/asked_masters.h"
#include "client/cluster_connection.h"
#include "common/base/random.h"
#include "common/model/request_key.h"
#include "common/rpc/channel.h"

namespace rota::client {
namespace {

constexpr Millis kShortestTry{300};
constexpr Millis kFirstPause{20};
constexpr Millis kLongestPause{500};

/// A try must leave time for another master: a master that hangs accepts connections and never answers.
Millis time_for_one_try(Millis deadline) { return std::max(deadline / 3, kShortestTry); }

}  // namespace

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)), connection_(std::make_unique<Connection>(options_)) {}

Cluster::~Cluster() = default;

template <typename Value>
Result<Value> Cluster::ask(bool of_leader, Repeat repeat, const Call<Value>& call,
                           Millis deadline) {
  const MonoTime end = BootClock::now() + deadline;
  Millis pause = kFirstPause;
  AskedMasters asked(repeat == Repeat::Read);
  bool may_be_done = false;
  for (bool first = true;; first = false) {
    const Millis left = floor_ms(end - BootClock::now());
    if (!first && left <= pause) return fail(asked.last_word(deadline));
    if (!first) {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
    auto channel = connection_->channel();
    if (!channel) {
      if (channel.error().code == ErrorCode::InvalidArgument) return fail(channel.error());
      rpc::CallError failure;
      failure.error = channel.error();
      asked.take(connection_->tried(), failure);
      continue;
    }
    thrift::RequestHead head;
    const Millis each =
        std::clamp(time_for_one_try(deadline), Millis{1},
                   std::max(Millis{1}, floor_ms(end - BootClock::now())));
    head.__set_deadline_ms(static_cast<std::int32_t>(each.count()));
    if (!options_.token.empty()) head.__set_token(options_.token);
    auto answer = (*channel)->call(
        [&](thrift::JobServiceClient& client) {
          Value value{};
          call(client, value, head);
          return value;
        },
        each);
    if (answer) return std::move(*answer);
    asked.take(rpc::to_string((*channel)->peer()), answer.error());
    const Error& last = answer.error().error;
    const bool unknown = last.retry == Retry::Unknown;
    const bool again = last.retry == Retry::Later || (unknown && repeat != Repeat::Never);
    const bool has_gone = may_be_done && last.code == ErrorCode::NotFound;
    if (has_gone && repeat == Repeat::HarmlessDeletion) return Value{};
    may_be_done = may_be_done || unknown;
    if (!again) return fail(last);
    if (!answer.error().answered || last.code == ErrorCode::NotLeader) {
      connection_->move_on(answer.error().leader);
      if (!answer.error().leader.empty()) pause = kFirstPause;
    }
    if (last.code == ErrorCode::TimedOut && !of_leader) return fail(last);
    pause = std::max(pause, answer.error().retry_after);
  }
}

template <typename Value>
Result<Value> Cluster::query(const Call<Value>& call) {
  return ask<Value>(false, Repeat::Read, call, options_.deadline);
}

template <typename Value>
Result<Value> Cluster::change(Repeat repeat, const Call<Value>& call) {
  return ask<Value>(true, repeat, call, options_.deadline);
}

/// A leader that loses its Term answers each item separately. A refused item goes to the next leader; a
/// stored item keeps its answer.
template <typename Item, typename Answer>
Result<std::vector<Answer>> Cluster::change_each(Repeat repeat, const std::vector<Item>& items,
                                                 const CallFor<Item, Answer>& call_for) {
  const MonoTime end = BootClock::now() + options_.deadline;
  std::vector<Answer> answers(items.size());
  std::vector<std::size_t> open(items.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  Millis left = options_.deadline;
  bool is_first = true;
  for (Millis pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    std::vector<Item> asked;
    for (const std::size_t place : open) asked.push_back(items[place]);
    auto some = ask<std::vector<Answer>>(true, repeat, call_for(asked), left);
    if (!some && is_first) return fail(some.error());
    if (!some) {  // an item that was certainly not stored before may be stored now
      for (const std::size_t place : open) answers[place].__set_error(rpc::to_wire(some.error()));
      return answers;
    }
    is_first = false;
    if (some->size() != asked.size()) {
      return fail(ErrorCode::Internal,
                  fmt::format("{} items were sent, {} answered", asked.size(), some->size()));
    }
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < open.size(); ++i) {
      Answer& answer = answers[open[i]] = std::move((*some)[i]);
      if (!answer.__isset.error) continue;
      const auto refusal = rpc::from_wire(answer.error);
      const bool unknown = refusal.error.retry == Retry::Unknown;
      if (refusal.error.retry != Retry::Later && !(unknown && repeat == Repeat::Harmless)) continue;
      again.push_back(open[i]);
      pause = std::max(pause, refusal.retry_after);
      if (refusal.error.code == ErrorCode::NotLeader) connection_->move_on(refusal.leader);
    }
    left = floor_ms(end - BootClock::now());
    if (again.empty() || left <= pause) return answers;
    open = std::move(again);
    std::this_thread::sleep_for(pause);
    left -= pause;
  }
}

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

Result<std::vector<thrift::WorkerInfo>> Cluster::list_workers() {
  return query<std::vector<thrift::WorkerInfo>>(
      [&](auto& client, auto& out, const auto& head) { client.list_workers(out, head); });
}

Result<std::vector<thrift::WorkerLife>> Cluster::list_lives(const std::string& worker,
                                                            std::int32_t limit) {
  return query<std::vector<thrift::WorkerLife>>([&](auto& client, auto& out, const auto& head) {
    client.list_lives(out, head, worker, limit);
  });
}

Result<std::vector<thrift::MasterNode>> Cluster::list_masters() {
  return query<std::vector<thrift::MasterNode>>(
      [&](auto& client, auto& out, const auto& head) { client.list_masters(out, head); });
}

Result<thrift::NodeHistory> Cluster::worker_history(const std::string& worker) {
  thrift::HistoryQuery asked;
  asked.__set_worker(worker);
  return query<thrift::NodeHistory>(
      [&](auto& client, auto& out, const auto& head) { client.worker_history(out, head, asked); });
}

Result<std::vector<thrift::RunUsage>> Cluster::worker_usage(const std::string& worker) {
  return query<std::vector<thrift::RunUsage>>(
      [&](auto& client, auto& out, const auto& head) { client.worker_usage(out, head, worker); });
}

Result<thrift::CapacityReport> Cluster::capacity() {
  return query<thrift::CapacityReport>(
      [&](auto& client, auto& out, const auto& head) { client.capacity(out, head); });
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
