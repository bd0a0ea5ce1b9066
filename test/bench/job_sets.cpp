#include "test/bench/job_sets.h"

#include <algorithm>

namespace rota::bench {
namespace {

constexpr std::int64_t kEditsPerCall = 1000;

Result<void> apply_some(client::Cluster& cluster, const std::vector<thrift::JobEdit>& edits,
                        std::vector<std::int64_t>& ids) {
  auto applied = cluster.apply_jobs(edits, false);
  if (!applied) return fail(applied.error());
  for (const thrift::JobEdited& one : *applied) {
    if (one.__isset.error) return fail(ErrorCode::Internal, one.error.message);
    ids.push_back(one.id);
  }
  return {};
}

}  // namespace

thrift::JobDefinition noop_job(std::string name) {
  thrift::JobDefinition job;
  job.__set_name(std::move(name));
  job.work.__set_handler("noop");
  return job;
}

thrift::JobDefinition ticking_job(std::string name, std::int64_t start_ms, Millis every) {
  thrift::JobDefinition job = noop_job(std::move(name));
  job.rules.schedule.__set_kind("fixed_rate");
  job.rules.schedule.__set_interval_ms(every.count());
  job.rules.schedule.__set_start_ms(start_ms);
  job.rules.__set_overlap("allow");
  return job;
}

Result<std::vector<std::int64_t>> apply_each(
    const Surroundings& where, std::int64_t count,
    const std::function<thrift::JobDefinition(std::int64_t)>& job) {
  client::Cluster cluster(where.client());
  std::vector<std::int64_t> ids;
  for (std::int64_t first = 0; first < count; first += kEditsPerCall) {
    std::vector<thrift::JobEdit> edits;
    for (std::int64_t i = first; i < std::min(first + kEditsPerCall, count); ++i) {
      edits.emplace_back().__set_definition(job(i));
    }
    if (auto applied = apply_some(cluster, edits, ids); !applied) return fail(applied.error());
  }
  return ids;
}

}  // namespace rota::bench
