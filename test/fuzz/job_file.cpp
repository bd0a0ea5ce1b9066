// The reader of job files. For any input: its problems are short and valid, and an accepted file reads the same
// again after Rota has written it (`rota job show`).
#include "client/job_file.h"

#include "common/base/utf8.h"
#include "test/fuzz/judge.h"

using rota::fuzz::demand;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  rota::config::Problems problems;
  const auto file = rota::client::read_job_file("f", text, problems);
  const std::string told = problems.text();
  demand(rota::is_utf8(told), "problems are valid UTF-8", told);
  demand(told.size() < 200'000, "problems are short", told);
  demand(problems.empty() || problems.size() > 0, "a count");
  if (!problems.empty()) return 0;
  for (const auto& job : file.jobs) {
    const std::string written = rota::client::job_file_text(job);
    rota::config::Problems none;
    const auto again = rota::client::read_job_file("written", written, none);
    demand(none.empty(), "what was written is read again", written + none.text());
    demand(again.jobs.size() == 1 && again.jobs[0] == job, "and it is the same", written);
  }
  return 0;
}
