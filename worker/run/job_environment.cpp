#include "worker/run/job_environment.h"

#include <algorithm>
#include <string_view>

namespace rota::worker::run {

namespace {

bool fits_variable(const std::string& text) {
  return text.size() <= kMaxCheckpointVariable && text.find('\0') == std::string::npos;
}

}  // namespace

std::string parameter_variable(const std::string& name) {
  std::string variable = "ROTA_PARAM_";
  for (const char c : name) {
    if (c >= 'a' && c <= 'z') {
      variable += static_cast<char>(c - 'a' + 'A');
    } else {
      variable += (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    }
  }
  return variable;
}

std::vector<std::string> job_environment(const EnvironmentBase& base, const desk::Order& order,
                                         Epoch epoch, const model::WorkerKey& worker,
                                         const std::string& folder,
                                         const std::string& checkpoint_file) {
  std::map<std::string, std::string> all = base.allowed;
  for (const auto& [name, value] : order.work.environment) all[name] = value;
  for (const auto& [name, value] : order.parameters) all[parameter_variable(name)] = value;
  all["ROTA_RUN_ID"] = std::to_string(order.key.run.value);
  all["ROTA_ATTEMPT"] = std::to_string(order.key.attempt);
  all["ROTA_EPOCH"] = std::to_string(epoch.value);
  all["ROTA_JOB"] = order.job_name;
  all["ROTA_JOB_ID"] = std::to_string(order.job.value);
  all["ROTA_JOB_VERSION"] = std::to_string(order.version);
  all["ROTA_NAMESPACE"] = order.space;
  all["ROTA_RUN_KIND"] = order.kind;
  if (order.tick) all["ROTA_TICK_MS"] = std::to_string(to_ms(*order.tick));
  all.erase("ROTA_SCHEDULE");
  if (!order.schedule.empty()) all["ROTA_SCHEDULE"] = order.schedule;
  all.erase("ROTA_PARENT_RUN");
  all.erase("ROTA_PARENT_STATE");
  if (order.parent) {
    all["ROTA_PARENT_RUN"] = std::to_string(order.parent->value);
    all["ROTA_PARENT_STATE"] = order.parent_state;
  }
  all["ROTA_SCHEDULED_MS"] = std::to_string(to_ms(order.scheduled));
  all["ROTA_WORKER"] = worker.id;
  all["ROTA_INCARNATION"] = worker.incarnation;
  if (!folder.empty()) all["ROTA_WORK_FOLDER"] = folder;
  all["ROTA_FD"] = std::to_string(kProgressDescriptor);
  all.erase("ROTA_CHECKPOINT");
  all.erase("ROTA_CHECKPOINT_FILE");
  if (!checkpoint_file.empty()) all["ROTA_CHECKPOINT_FILE"] = checkpoint_file;
  if (order.checkpoint && fits_variable(*order.checkpoint)) all["ROTA_CHECKPOINT"] = *order.checkpoint;
  std::vector<std::string> lines;
  lines.reserve(all.size());
  for (const auto& [name, value] : all) lines.push_back(name + "=" + value);
  return lines;
}

EnvironmentBase environment_base(const std::vector<std::string>& allow,
                                 const char* const* environment) {
  EnvironmentBase base;
  base.allowed["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view line = *environment;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(line.substr(0, equals));
    if (std::find(allow.begin(), allow.end(), name) == allow.end()) continue;
    base.allowed[name] = line.substr(equals + 1);
  }
  return base;
}

}  // namespace rota::worker::run
