// How many workers pools should have, and what their hooks were told.
#include <algorithm>

#include "master/api/edge.h"
#include "master/api/job_service.h"

namespace rota::master::api {
namespace {

constexpr std::int32_t kChangesListedMost = 10'000;
constexpr std::int32_t kChangesListed = 100;

thrift::ScaleChangeInfo to_wire(const model::ScaleChange& row) {
  thrift::ScaleChangeInfo out;
  out.__set_id(row.id);
  out.__set_pool(row.pool);
  out.__set_before(row.before);
  out.__set_wanted(row.after);
  out.__set_present(row.present);
  out.__set_reason(std::string(name_of(row.reason)));
  out.__set_hook(row.hook);
  for (const model::WorkerKey& key : row.stoppable) out.stoppable.push_back(key.id);
  out.__set_made_ms(to_ms(row.made));
  out.__set_state(std::string(name_of(row.state)));
  out.__set_attempts(row.attempts);
  out.__set_settled_ms(row.settled ? to_ms(*row.settled) : 0);
  out.__set_last_error(row.last_error);
  out.__set_leaving(row.leaving);
  out.__set_epoch(row.id >> kIdCounterBits);
  return out;
}

thrift::PoolScaleInfo to_wire(const core::ScaleView& view) {
  thrift::PoolScaleInfo out;
  out.__set_pool(view.pool);
  out.__set_wanted(view.wanted);
  out.__set_reason(std::string(name_of(view.reason)));
  out.__set_here(view.here);
  out.__set_leaving(view.leaving);
  out.__set_demand(view.demand);
  out.__set_load_percent(view.load * 100);
  out.__set_min_workers(view.min_workers);
  out.__set_max_workers(view.max_workers);
  out.__set_is_scaled(view.is_scaled);
  out.__set_hook(view.hook);
  out.__set_changed_ms(to_ms(view.changed));
  out.__set_stoppable(view.stoppable);
  if (view.newest) out.__set_newest(to_wire(*view.newest));
  return out;
}

}  // namespace

void JobServiceHandler::list_scaling(const Caller& caller, std::vector<thrift::PoolScaleInfo>& out,
                                     const Head& head, const std::string& prefix) {
  const auto snapshot = parts_.leader.snapshot();
  if (!snapshot) {
    out = value_or_throw(pass_on(caller, head, deadline_of(head), [&](auto& client, const Head& onward) {
      std::vector<thrift::PoolScaleInfo> answer;
      client.list_scaling(answer, onward, prefix);
      return answer;
    }));
    return;
  }
  for (const core::ScaleView& view : snapshot->scaling) {
    if (view.pool.starts_with(prefix)) out.push_back(to_wire(view));
  }
}

void JobServiceHandler::list_scale_changes(const Caller&, std::vector<thrift::ScaleChangeInfo>& out,
                                           const Head&, const thrift::ScaleQuery& query) {
  const std::int32_t most = query.limit <= 0 ? kChangesListed : std::min(query.limit, kChangesListedMost);
  const std::int64_t before = std::max<std::int64_t>(query.before, 0);
  for (const auto& row : value_or_throw(parts_.reader.list_scaling(query.pool, before, most))) {
    out.push_back(to_wire(row));
  }
}

}  // namespace rota::master::api
