// Pauses, resumes, deletes and undeletes saved jobs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "client/command/commands.h"

namespace rota::client {
namespace {

constexpr std::int32_t kRunsAPage = 1000;

/// `done` is what was asked for: "paused".
int tell_edit(Desk& desk, const std::string& name, const char* done,
              const Result<thrift::JobEdited>& edited) {
  if (!edited) return complain(edited.error());
  if (desk.prints_data()) {
    print_data(desk.format, {{"name", name}, {"version", edited->version}, {"what", edited->what}});
  } else {
    print_text(fmt::format("{} {}{} (version {})\n", printable(name),
                           edited->what == "unchanged" ? "was already " : "", done, edited->version));
  }
  return kOk;
}

const char* ending(std::size_t count) { return count == 1 ? "" : "s"; }

}  // namespace

Result<std::vector<std::int64_t>> unfinished_runs(Desk& desk, const std::string& name) {
  std::vector<std::int64_t> out;
  thrift::RunFilter filter;
  filter.space = desk.space;
  filter.job = name;
  filter.__set_one_off(false);
  filter.states = {"waiting", "queued", "dispatched", "running"};
  filter.limit = kRunsAPage;
  while (true) {
    const auto page = desk.cluster.list_runs(filter);
    if (!page) return fail(page.error());
    for (const thrift::RunInfo& run : *page) out.push_back(run.id);
    if (page->size() < static_cast<std::size_t>(kRunsAPage)) return out;
    filter.__set_before_run(out.back());
  }
}

int cancel_all(Desk& desk, const std::vector<std::int64_t>& runs, const std::string& why) {
  std::size_t cancelled = 0;
  for (const std::int64_t run : runs) {
    const auto state = desk.cluster.cancel_run(run, why);
    if (!state && state.error().code != ErrorCode::Conflict) return complain(state.error());
    if (state) ++cancelled;
  }
  const std::size_t ended = runs.size() - cancelled;
  note(fmt::format("{} unfinished run{} cancelled{}", cancelled, ending(cancelled),
                   ended == 0 ? "" : fmt::format("; {} had just ended", ended)));
  return kOk;
}

namespace {

bool may_cancel(Desk& desk, const std::string& name) {
  const auto runs = unfinished_runs(desk, name);
  const std::string question =
      runs ? fmt::format("Pause job {} and end its {} unfinished run{}?", printable(name), runs->size(),
                         ending(runs->size()))
           : fmt::format("Pause job {} and end its unfinished runs?", printable(name));
  return confirmed(desk, question);
}

}  // namespace

int job_pause(Desk& desk, const std::string& name, const std::string& why, const PauseArguments& arguments) {
  if (arguments.cancel_running && !arguments.yes && !may_cancel(desk, name)) {
    note("nothing was changed; answer y, or add --yes to do it without being asked");
    return kUsage;
  }
  const int paused = tell_edit(desk, name, "paused", desk.cluster.set_paused(desk.space, name, true, why));
  if (paused != kOk) return paused;
  const auto runs = unfinished_runs(desk, name);
  if (!runs) return complain(runs.error());
  if (arguments.cancel_running) return cancel_all(desk, *runs, why.empty() ? "its job was paused" : why);
  if (runs->empty() || desk.prints_data()) return kOk;
  const bool is_one = runs->size() == 1;
  note(fmt::format("{} of its runs {} already fired and {} on, even after a loss of a worker; "
                   "--cancel-running ends {}", runs->size(), is_one ? "has" : "have",
                   is_one ? "goes" : "go", is_one ? "it" : "them"));
  return kOk;
}

int job_resume(Desk& desk, const std::string& name, const std::string& why) {
  return tell_edit(desk, name, "enabled", desk.cluster.set_paused(desk.space, name, false, why));
}

int job_delete(Desk& desk, const std::string& name, const std::string& why, bool yes) {
  if (!yes) {
    const auto job = desk.cluster.get_job(desk.space, name);
    if (!job) return complain(job.error());
    const std::string question =
        fmt::format("Delete job {} (version {}, {})? It never fires again; its history stays.",
                    printable(name), job->version, job->state);
    if (!confirmed(desk, question)) {
      note("nothing was deleted; answer y, or add --yes to delete without being asked");
      return kUsage;
    }
  }
  return tell_edit(desk, name, "deleted", desk.cluster.delete_job(desk.space, name, why));
}

int job_undelete(Desk& desk, const std::string& name) {
  const auto job = desk.cluster.undelete_job(desk.space, name);
  if (!job) return complain(job.error());
  if (desk.prints_data()) {
    print_data(desk.format, {{"name", name}, {"version", job->version}, {"what", job->what},
                             {"state", job->state}, {"deleted_at_ms", job->deleted_ms}});
    return kOk;
  }
  print_text(fmt::format("{} is back as it was (version {}, {})\n", printable(name), job->version,
                         job->state));
  note(fmt::format("it was deleted since {}: ticks from then until now did not fire, and will not be "
                   "made up for", show_time(job->deleted_ms)));
  return kOk;
}

}  // namespace rota::client
