#include "worker/run/command_plan.h"

#include <sys/resource.h>

#include <sstream>
#include <string_view>

#include "worker/run/limit_rules.h"

namespace rota::worker::run {

namespace {

/// Between SIGXCPU and SIGKILL for a process that goes on.
constexpr std::int64_t kCpuGraceSeconds = 5;
constexpr std::string_view kFactsVariable = "ROTA_FACTS_FILE=";

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::optional<std::string> trouble_with_command(const model::JobWork& work) {
  if (work.argv.empty() && work.script.empty()) return "neither a command nor a script";
  if (work.argv.empty() && words_in(work.interpreter).empty()) return "a script without interpreter";
  if (!work.argv.empty() && work.argv.front().empty()) return "the program's name is empty";
  for (const std::string& argument : work.argv) {
    if (has_nul(argument)) return "an argument holds a NUL byte";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> trouble_with(const model::JobWork& work) {
  if (!model::has_own_process(work)) {
    if (work.run_as.empty()) return std::nullopt;
    return "run_as: a handler inside of the worker runs as the worker's own user; it needs "
           "isolation: process";
  }
  if (work.handler == "command") {
    if (auto trouble = trouble_with_command(work)) return trouble;
  }
  for (const auto& [name, value] : work.environment) {
    if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value)) {
      return "the environment variable '" + name + "' cannot be set";
    }
  }
  if (has_nul(work.folder)) return "the folder's name holds a NUL byte";
  return std::nullopt;
}

std::string interpreter_of(const model::JobWork& work) {
  const auto words = words_in(work.interpreter);
  return words.empty() ? std::string() : words.front();
}

namespace {

/// "2 cpu 4 memory 1073741824"; names are words.
std::string demand_line(const model::Demand& demand) {
  std::string line = std::to_string(demand.slots);
  for (const auto& [name, amount] : demand.needs) line += " " + name + " " + std::to_string(amount);
  return line + "\n";
}

model::Demand read_demand(std::istream& in) {
  model::Demand demand;
  if (!(in >> demand.slots)) return {};
  std::string name;
  for (std::int64_t amount = 0; in >> name >> amount;) demand.needs[name] = amount;
  return demand;
}

}  // namespace

std::string encode_note(const AttemptNote& note) {
  return "1\n" + note.life.id + "\n" + note.life.incarnation + "\n" +
         std::to_string(note.cap_bytes) + "\n" + std::to_string(note.kill_grace.count()) + " " +
         std::to_string(note.limits.memory_bytes) + " " + std::to_string(note.limits.processes) +
         " " + std::to_string(note.limits.cpu.count()) + " " +
         std::to_string(note.limits.folder_bytes) + " " +
         std::to_string(static_cast<int>(note.keep_folder)) + "\n" + note.folder + "\n" +
         (note.is_handler ? "handler\n" : "\n") + std::to_string(note.limits.milli_cpus) + "\n" +
         demand_line(note.demand);
}

namespace {

/// What later programs wrote behind the first lines; absent in a note of an older one.
void read_newer_lines(std::istream& in, AttemptNote& note) {
  std::int64_t grace = 0, cpu = 0;
  int keep = 0;
  model::JobLimits limits;
  if (!(in >> grace >> limits.memory_bytes >> limits.processes >> cpu >> limits.folder_bytes >> keep)) {
    return;
  }
  limits.cpu = Millis{cpu};
  note.kill_grace = Millis{grace};
  note.limits = limits;
  if (keep >= 0 && keep <= static_cast<int>(model::KeepFolder::Always)) {
    note.keep_folder = static_cast<model::KeepFolder>(keep);
  }
  in.ignore(1);
  std::getline(in, note.folder);
  std::string kind;
  note.is_handler = std::getline(in, kind) && kind == "handler";
  if (!(in >> note.limits.milli_cpus)) note.limits.milli_cpus = 0;
  note.demand = read_demand(in);
}

}  // namespace

Result<AttemptNote> decode_note(const std::string& text) {
  std::istringstream in(text);
  std::string version;
  AttemptNote note;
  if (!std::getline(in, version) || version != "1" || !std::getline(in, note.life.id) ||
      !std::getline(in, note.life.incarnation) || !(in >> note.cap_bytes)) {
    return fail(ErrorCode::Corrupt, "the note of a held attempt cannot be read");
  }
  read_newer_lines(in, note);
  return note;
}

namespace {

/// What the kernel can hold each process to. CPU time, memory and the number of processes of the whole
/// set are the sampler's; the limit of one process is only the net below it.
std::vector<warden::Limit> process_limits(const model::JobLimits& wanted) {
  std::vector<warden::Limit> limits;
  const auto add = [&](int resource, std::int64_t soft, std::int64_t hard) {
    limits.push_back({resource, static_cast<std::uint64_t>(soft), static_cast<std::uint64_t>(hard)});
  };
  add(RLIMIT_CORE, wanted.core_bytes, wanted.core_bytes);
  if (wanted.address_space_bytes > 0) {
    add(RLIMIT_AS, wanted.address_space_bytes, wanted.address_space_bytes);
  }
  if (wanted.open_files > 0) add(RLIMIT_NOFILE, wanted.open_files, wanted.open_files);
  if (wanted.file_size_bytes > 0) {
    add(RLIMIT_FSIZE, wanted.file_size_bytes, wanted.file_size_bytes);
  }
  if (wanted.cpu > Millis{0}) {
    const std::int64_t seconds = (wanted.cpu.count() + 999) / 1000;
    add(RLIMIT_CPU, seconds, seconds + kCpuGraceSeconds);
  }
  return limits;
}

}  // namespace

warden::Start plan_command(const desk::Order& order, const WorkPlace& place,
                           const EnvironmentBase& base, Epoch epoch,
                           const model::WorkerKey& life, const std::string& program) {
  warden::Start start;
  start.key = to_warden(order.key);
  start.argv = order.work.argv;
  if (!place.script_file.empty()) {
    start.argv = words_in(order.work.interpreter);
    start.argv.push_back(place.script_file);
  }
  if (!place.facts_file.empty()) start.argv = {program, "--handler", order.work.handler};
  EnvironmentBase own = base;
  if (place.user) {
    own.allowed["HOME"] = place.home;
    own.allowed["USER"] = own.allowed["LOGNAME"] = order.work.run_as;
  }
  start.environment = job_environment(own, order, epoch, life, place.folder, place.checkpoint_file);
  if (!place.facts_file.empty()) {
    std::erase_if(start.environment, [](const auto& line) { return line.starts_with(kFactsVariable); });
    start.environment.push_back(std::string(kFactsVariable) + place.facts_file);
  }
  start.progress = true;
  start.folder = order.work.folder.empty() ? place.folder : order.work.folder;
  start.timeout = order.timeout;
  start.kill_grace = order.kill_grace;
  start.disconnect_grace = order.disconnect_grace;
  start.nice = order.work.nice;
  start.umask = static_cast<std::uint32_t>(order.work.umask);
  start.limits = process_limits(order.work.limits);
  start.most_memory_bytes = kernels_bound(order.work.limits.memory_bytes);
  start.most_processes = kernels_bound(order.work.limits.processes);
  start.milli_cpus = order.work.limits.milli_cpus;
  start.user = place.user;
  start.space = order.space;
  start.note = encode_note({life, order.work.output_cap_bytes, order.kill_grace, order.work.limits,
                            order.work.keep_folder, place.folder, !place.facts_file.empty()});
  return start;
}

}  // namespace rota::worker::run
