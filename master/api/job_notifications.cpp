// Notifications and expectations that were not met: lists of them, and a test of a receiver.
#include <fmt/format.h>

#include <algorithm>

#include "master/api/edge.h"
#include "master/api/job_service.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::api {
namespace {

constexpr std::int32_t kListedMost = 10'000;
constexpr std::int32_t kListed = 100;
constexpr Millis kClockMargin{60'000};  // the next leader's clock may be behind

thrift::NotificationInfo to_wire(const model::Notification& row) {
  thrift::NotificationInfo out;
  out.__set_id(row.id);
  out.__set_receiver(row.receiver);
  out.__set_what(std::string(name_of(row.what)));
  out.__set_space(row.space);
  out.__set_job(row.job_name);
  out.__set_run(row.run.value);
  out.__set_worker(row.worker);
  out.__set_tick_ms(row.moment ? to_ms(*row.moment) : 0);
  out.__set_text(row.text);
  out.__set_stands_for(row.count);
  out.__set_made_ms(to_ms(row.made));
  out.__set_state(std::string(name_of(row.state)));
  out.__set_attempts(row.attempts);
  out.__set_settled_ms(row.settled ? to_ms(*row.settled) : 0);
  out.__set_last_error(row.last_error);
  return out;
}

thrift::LateInfo to_wire(const model::LateRow& row) {
  thrift::LateInfo out;
  out.__set_space(row.space);
  out.__set_job(row.job_name);
  out.__set_what(std::string(name_of(row.what)));
  out.__set_run(row.run.value);
  out.__set_tick_ms(row.tick ? to_ms(*row.tick) : 0);
  out.__set_due_ms(row.due ? to_ms(*row.due) : 0);
  out.__set_told_ms(to_ms(row.told));
  out.__set_was(row.was);
  out.__set_limit_ms(row.limit.count());
  return out;
}

}  // namespace

void JobServiceHandler::list_notifications(const Caller&, std::vector<thrift::NotificationInfo>& out,
                                           const Head&, const thrift::NotificationQuery& query) {
  const std::int32_t most = query.limit <= 0 ? kListed : std::min(query.limit, kListedMost);
  for (const auto& row : value_or_throw(parts_.reader.list_notifications(query.only_open, most))) {
    out.push_back(to_wire(row));
  }
}

/// A job of that name that was deleted is found no more; all of the namespace are.
void JobServiceHandler::list_late(const Caller&, std::vector<thrift::LateInfo>& out, const Head&,
                                  const thrift::LateQuery& query) {
  const std::int32_t most = query.limit <= 0 ? kListed : std::min(query.limit, kListedMost);
  JobId job;
  if (!query.job.empty()) job = value_or_throw(parts_.reader.get_job(query.space, query.job)).job.id;
  for (const auto& row : value_or_throw(parts_.reader.list_late(job, query.space, WallTime{}, most))) {
    out.push_back(to_wire(row));
  }
}

/// What was told of its expectations; empty: nothing.
std::string JobServiceHandler::late_remark(const store::RunRow& row) const {
  const auto rows = parts_.reader.list_late(row.run.job, "", row.run.recorded - kClockMargin, kListedMost);
  std::string out;
  for (const model::LateRow& late : rows.value_or(std::vector<model::LateRow>{})) {
    if (late.run != row.run.id) continue;
    out += fmt::format(" Late: {} was not met, as told at {}, when it was {}.", name_of(late.what),
                       core::second_text(late.told), late.was);
  }
  return out;
}

/// By the leader, since it is the one that sends.
void JobServiceHandler::test_receiver(const Caller& caller, std::string& out, const Head& head,
                                      const std::string& receiver) {
  if (desk_.leads() && parts_.test_receiver) {
    out = value_or_throw(parts_.test_receiver(receiver));
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline_of(head), [&](auto& client, const Head& onward) {
    std::string answer;
    client.test_receiver(answer, onward, receiver);
    return answer;
  }));
}

}  // namespace rota::master::api
