// `rota run rerun` and `rota run cancel --job`.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "client/command/commands.h"

namespace rota::client {

/// By the job as it is now, since that is what a person has corrected; with the run's own parameters.
int run_rerun(Desk& desk, const std::string& run, const RunNowArguments& arguments) {
  const auto id = run_id_from(run);
  if (!id) return complain(id.error());
  const auto changed = pairs_from(arguments.parameters);
  if (!changed) return complain(changed.error());
  const auto detail = desk.cluster.get_run(*id);
  if (!detail) return complain(detail.error());
  if (detail->run.kind == "one_off") {
    return complain(Error(ErrorCode::InvalidArgument,
                          fmt::format("run {} was submitted, and belongs to no saved job; submit it again",
                                      *id)));
  }
  std::map<std::string, std::string> parameters = detail->run.parameters;
  for (const auto& [key, value] : *changed) parameters[key] = value;
  RunNowArguments again = arguments;
  again.name = detail->run.job_name;
  again.parameters.clear();
  for (const auto& [key, value] : parameters) again.parameters.push_back(key + "=" + value);
  const auto job = desk.cluster.get_job(desk.space, again.name);
  if (!job) return complain(job.error());
  if (job->id != detail->run.job_id) {
    return complain(Error(ErrorCode::Conflict,
                          fmt::format("job {} of namespace {} is not the one of run {}, which was deleted "
                                      "or is of another namespace; give --namespace, or start this one "
                                      "with rota job run",
                                      printable(again.name), printable(desk.space), *id)));
  }
  if (job->version != detail->run.job_version) {
    note(fmt::format("run {} was made by version {} of {}; this one is of version {}", *id,
                     detail->run.job_version, printable(again.name), job->version));
  }
  return job_run(desk, again);
}

int run_cancel_all(Desk& desk, const std::string& job, const std::string& why, bool yes) {
  const auto known = desk.cluster.get_job(desk.space, job);
  if (!known) return complain(known.error());
  const auto runs = unfinished_runs(desk, job);
  if (!runs) return complain(runs.error());
  if (runs->empty()) {
    note(fmt::format("job {} has no unfinished run", printable(job)));
    return kOk;
  }
  const std::string question =
      fmt::format("End {} unfinished run{} of job {}? Its schedule goes on.", runs->size(),
                  runs->size() == 1 ? "" : "s", printable(job));
  if (!yes && !confirmed(desk, question)) {
    note("nothing was changed; answer y, or add --yes to do it without being asked");
    return kUsage;
  }
  return cancel_all(desk, *runs, why);
}

}  // namespace rota::client
