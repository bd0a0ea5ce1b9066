#include "master/core/notices.h"

namespace rota::master::core {

void tell(Context& ctx, std::string_view sentence, NoticeKeys keys) {
  ctx.out.notices.push_back({false, sentence, std::move(keys)});
}

void warn(Context& ctx, std::string_view sentence, NoticeKeys keys) {
  ctx.out.notices.push_back({true, sentence, std::move(keys)});
}

std::string job_of(const State& state, const RunEntry& run) {
  const JobEntry* job = state.find_job(run.row().job);
  return job == nullptr ? std::to_string(run.row().job.value) : job->row.space() + "/" + job->row.name;
}

}  // namespace rota::master::core
