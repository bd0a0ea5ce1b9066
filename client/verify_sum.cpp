#include "client/verify_sum.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/duration_text.h"

namespace rota::client {
namespace {

constexpr std::size_t kMostExamples = 5;

void add_check(thrift::VerifyReport& sum, const thrift::Check& part) {
  auto at = std::ranges::find(sum.checks, part.promise, &thrift::Check::promise);
  if (at == sum.checks.end()) {
    sum.checks.push_back(part);
    return;
  }
  at->ok = at->ok && part.ok;
  at->planned += part.planned;
  at->fired += part.fired;
  at->skipped += part.skipped;
  at->missing += part.missing;
  at->doubled += part.doubled;
  for (const std::string& example : part.examples) {
    if (at->examples.size() < kMostExamples) at->examples.push_back(example);
  }
}

}  // namespace

void add_part(thrift::VerifyReport& sum, const thrift::VerifyReport& part) {
  const bool is_first = sum.checks.empty();
  sum.ok = (is_first || sum.ok) && part.ok;
  if (is_first) sum.decided_through_ms = part.decided_through_ms;
  sum.max_lateness_ms = std::max(sum.max_lateness_ms, part.max_lateness_ms);
  for (const thrift::Check& check : part.checks) add_check(sum, check);
  // Older masters answer completely or not at all.
  sum.__set_complete(!part.__isset.complete || part.complete);
  sum.__set_next_place(part.next_place);
  sum.__set_jobs_looked_at(sum.jobs_looked_at + part.jobs_looked_at);
  sum.__set_jobs_in_all(std::max(sum.jobs_in_all, part.jobs_in_all));
  sum.__set_runs_looked_at(sum.runs_looked_at + part.runs_looked_at);
  if (part.__isset.runs_through_ms) sum.__set_runs_through_ms(part.runs_through_ms);
}

std::string how_far(const thrift::VerifyReport& sum) {
  std::string text = fmt::format("ticks of {}", sum.jobs_looked_at);
  if (sum.jobs_in_all > 0) text += fmt::format(" of {}", sum.jobs_in_all);
  text += fmt::format(" jobs, {} runs", sum.runs_looked_at);
  if (sum.__isset.runs_through_ms) {
    text += ", those recorded up to " + format_moment(wall_from_ms(sum.runs_through_ms));
  }
  return text;
}

}  // namespace rota::client
