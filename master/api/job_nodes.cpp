// Masters with their figures, what workers did minute by minute, and capacity. Each master is asked for
// itself; minutes come from the store; who runs what, and what was noted today, only the leader knows.
#include <algorithm>
#include <map>

#include "master/api/edge.h"
#include "master/api/job_service.h"
#include "master/api/node_words.h"

namespace rota::master::api {
namespace {

constexpr Millis kMasterDeadline{1000};  // a master that hangs must not keep the others' figures from people
constexpr Millis kCapacityHop{2000};
constexpr Millis kDay{24 * 3'600'000};

}  // namespace

void JobServiceHandler::list_masters(const Caller& caller, std::vector<thrift::MasterNode>& out,
                                     const Head& head) {
  for (const MasterView& view : parts_.leader.masters()) {
    thrift::MasterNode node = master_told(view);
    const bool is_this = view.id == options_.master_id;
    if (head.forwarded && !is_this) continue;
    if (is_this) {
      if (const auto figures = parts_.leader.figures()) add_figures(node, *figures, BootClock::now());
    } else {
      ask_master(caller, head, view, node);
    }
    out.push_back(std::move(node));
  }
  std::ranges::sort(out, {}, &thrift::MasterNode::id);
}

void JobServiceHandler::ask_master(const Caller& caller, const Head& head, const MasterView& master,
                                   thrift::MasterNode& node) {
  const MonoTime began = BootClock::now();
  const MonoTime deadline = std::min(deadline_of(head), began + kMasterDeadline);
  const Head onward = head_onward(caller, head, deadline);
  const auto answer = desk_.call_master(
      master.address,
      [&](thrift::JobServiceClient& client) {
        std::vector<thrift::MasterNode> itself;
        client.list_masters(itself, onward);
        return itself;
      },
      deadline);
  if (answer) return add_answer(node, *answer, floor_ms(BootClock::now() - began));
  const Error& error = answer.error().error;
  // A master of before answers that it does not know the method: it is there.
  if (answer.error().answered || error.code == ErrorCode::Unsupported) {
    return node.__set_why("tells no figures: " + error.message);
  }
  add_silence(node, error.retry == Retry::Unknown ? "did not answer within a second" : error.message);
}

void JobServiceHandler::worker_history(const Caller&, thrift::NodeHistory& out, const Head&,
                                       const thrift::HistoryQuery& query) {
  const WallTime now = parts_.clock.wall();
  const WallTime since = std::max(wall_from_ms(query.since_ms), now - kDay);
  out.__set_worker(query.worker);
  out.__set_keep_ms(kDay.count());
  std::vector<thrift::NodeMinute> minutes;
  for (const auto& row :
       core::whole_minutes(value_or_throw(parts_.reader.worker_minutes(query.worker, since)))) {
    minutes.push_back(minute_told(row));
  }
  out.__set_minutes(std::move(minutes));
}

void JobServiceHandler::worker_usage(const Caller& caller, std::vector<thrift::RunUsage>& out,
                                     const Head& head, const std::string& worker) {
  const auto snapshot = parts_.leader.snapshot();
  if (!snapshot) {
    out = value_or_throw(pass_on(caller, head, deadline_of(head), [&](auto& client, const Head& onward) {
      std::vector<thrift::RunUsage> answer;
      client.worker_usage(answer, onward, worker);
      return answer;
    }));
    return;
  }
  const WallTime now = parts_.clock.wall();
  for (const core::WorkerView& view : snapshot->workers) {
    if (view.info->key.id != worker || !view.usage) continue;
    for (const model::AttemptUsage& usage : *view.usage) {
      thrift::RunUsage& row = out.emplace_back();
      row.__set_run(usage.key.run.value);
      row.__set_attempt(usage.key.attempt);
      row.__set_usage(usage_told(usage, now));
    }
  }
}

/// A follower asks the leader, which knows shortages too; without a leader the rows say the rest.
void JobServiceHandler::capacity(const Caller& caller, thrift::CapacityReport& out, const Head& head) {
  if (!desk_.leads() && !head.forwarded) {
    const auto asked = ask_leader(caller, head, std::min(deadline_of(head), BootClock::now() + kCapacityHop),
                                  [&](auto& client, const Head& onward) {
                                    thrift::CapacityReport answer;
                                    client.capacity(answer, onward);
                                    return answer;
                                  });
    if (asked) {
      out = *asked;
      return;
    }
  }
  std::map<std::string, std::vector<model::PoolMinute>> by_pool;
  for (auto& row : value_or_throw(parts_.reader.pool_minutes(parts_.clock.wall() - kDay))) {
    by_pool[row.pool].push_back(std::move(row));
  }
  const auto facts = parts_.leader.node_facts();
  const auto shortages = facts ? facts->shortages : std::vector<core::PoolShortage>();
  std::vector<thrift::PoolCapacity> pools;
  for (auto& [pool, rows] : by_pool) {
    const auto minutes = core::whole_minutes(std::move(rows));
    pools.push_back(capacity_told(core::capacity_of(minutes, options_.reserve_percent), shortages));
  }
  out.__set_pools(std::move(pools));
  out.__set_reserve_percent(options_.reserve_percent);
  out.__set_least_minutes(core::kGrowthSpan / model::kMinute);
}

}  // namespace rota::master::api
