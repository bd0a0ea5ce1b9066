#include "worker/warden/cgroup_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <sstream>
#include <utility>

#include "worker/warden/process_scan.h"

namespace rota::worker::warden {

namespace {

constexpr Millis kClearPatience{3000};
constexpr int kClearPauseMs = 2;
constexpr int kDeepest = 32;  // folders below folders that are still looked into
constexpr std::int64_t kCpuPeriodUs = 100'000;  // the kernel's own; a share of it may be used in each

/// Files of a cgroup are short; a list of processes may be long.
std::optional<std::string> text_of(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::string out;
  char part[16'384];
  for (ssize_t got = 0; (got = ::read(file.get(), part, sizeof part)) != 0;) {
    if (got < 0) return std::nullopt;
    out.append(part, static_cast<std::size_t>(got));
  }
  return out;
}

bool put(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.is_open() && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// The value behind "NAME " at the start of a line.
std::optional<std::int64_t> value_in(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string word;
  for (std::int64_t value = 0; lines >> word >> value;) {
    if (word == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') out.push_back(path + "/" + entry->d_name);
  }
  return out;
}

/// A folder and all below it, the deepest last.
std::vector<std::string> with_all_below(const std::string& path) {
  std::vector<std::string> out{path};
  std::vector<std::string> level{path};
  for (int depth = 0; depth < kDeepest && !level.empty(); ++depth) {
    std::vector<std::string> next;
    for (const std::string& each : level) {
      for (std::string& below : folders_in(each)) next.push_back(std::move(below));
    }
    out.insert(out.end(), next.begin(), next.end());
    level = std::move(next);
  }
  return out;
}

std::vector<pid_t> members_of(const std::string& path) {
  std::vector<pid_t> out;
  for (const std::string& each : with_all_below(path)) {
    std::istringstream numbers(text_of(each + "/cgroup.procs").value_or(""));
    for (pid_t pid = 0; numbers >> pid;) {
      if (pid > 0) out.push_back(pid);  // 0: of a namespace that we cannot see into
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// First a pidfd for each, then a check that it is still in here, so that a pid that was used again
/// elsewhere is never signalled.
void signal_members(const std::string& path, int number) {
  std::vector<std::pair<pid_t, UniqueFd>> held;
  for (const pid_t pid : members_of(path)) {
    UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (pidfd.is_open()) held.emplace_back(pid, std::move(pidfd));
  }
  const std::vector<pid_t> still = members_of(path);
  for (const auto& [pid, pidfd] : held) {
    if (!std::binary_search(still.begin(), still.end(), pid)) continue;
    ::syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0);
  }
}

bool remove_all(const std::string& path) {
  std::vector<std::string> all = with_all_below(path);
  bool gone = true;
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    gone = ::rmdir(each->c_str()) == 0 || errno == ENOENT;
  }
  return gone;
}

Cgroup at(const std::string& path) {
  return {path, UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))};
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// How many processes are left in it.
int clear(const std::string& path, Millis patience) {
  if (!is_folder(path)) return 0;
  Cgroup group = at(path);
  const MonoTime deadline = BootClock::now() + patience;
  while (!group.is_empty() && BootClock::now() < deadline) {
    group.kill();
    ::poll(nullptr, 0, kClearPauseMs);
  }
  const int left = static_cast<int>(members_of(path).size());
  if (left == 0) group.remove();
  return left;
}

bool names(const std::string& path, const std::string& word) {
  std::istringstream words(text_of(path).value_or(""));
  for (std::string each; words >> each;) {
    if (each == word) return true;
  }
  return false;
}

/// As far as the kernel lets us: a folder that has processes of its own, as that of a service mostly has,
/// hands none down.
void hand_down_controllers(const std::string& base, const std::string& path) {
  const std::string switches = "/cgroup.subtree_control";
  for (const std::string controller : {"memory", "pids", "cpu"}) {
    if (!names(base + "/cgroup.controllers", controller)) continue;
    if (!names(base + switches, controller)) put(base + switches, "+" + controller);
    put(path + switches, "+" + controller);
  }
}

/// Whether children can be born into such a folder.
bool accepts_children(const Cgroup& group) {
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<std::uint64_t>(group.fd());
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
  if (pid == 0) ::_exit(0);
  return pid > 0 && ::waitpid(pid, nullptr, 0) == pid;
}

std::vector<std::string> own_folders() {
  return cgroup_folders(text_of("/proc/self/mountinfo").value_or(""),
                        text_of("/proc/self/cgroup").value_or(""));
}

}  // namespace

// --- one attempt's

void Cgroup::kill(bool one_by_one) const {
  unthrottle();
  if (!one_by_one && put(path_ + "/cgroup.kill", "1")) return;
  put(path_ + "/cgroup.freeze", "1");  // so that nobody forks while we walk
  signal_members(path_, SIGKILL);
  put(path_ + "/cgroup.freeze", "0");
}

void Cgroup::unthrottle() const {
  for (const std::string& each : with_all_below(path_)) put(each + "/cpu.max", "max");
}

void Cgroup::signal_all(int number) const { signal_members(path_, number); }

bool Cgroup::is_empty() const {
  const auto events = text_of(path_ + "/cgroup.events");
  return events && value_in(*events, "populated") == 0;
}

std::optional<std::int64_t> Cgroup::cpu_us() const {
  const auto text = text_of(path_ + "/cpu.stat");
  return text ? value_in(*text, "usage_usec") : std::nullopt;
}

bool Cgroup::had_oom_kill() const {
  const auto events = text_of(path_ + "/memory.events");
  return events && value_in(*events, "oom_kill").value_or(0) > 0;
}

bool Cgroup::remove() {
  folder_.reset();
  return remove_all(path_);
}

// --- the worker's

Result<CgroupTree> CgroupTree::open(const std::string& name) {
  Result<CgroupTree> opened = fail(ErrorCode::Unavailable, "no cgroup of version 2 is mounted here");
  for (const std::string& base : own_folders()) {
    opened = open_below(base, name);
    if (opened) break;
  }
  return opened;
}

Result<CgroupTree> CgroupTree::open_below(const std::string& base, const std::string& name) {
  const std::string path = base + "/" + name;
  if (const int left = clear(path, kClearPatience); left > 0) {
    return fail(ErrorCode::Unavailable,
                path + ": " + std::to_string(left) + " processes of a dead worker live on");
  }
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail(ErrorCode::Unavailable, "cannot make " + path + ": " + std::strerror(errno));
  }
  hand_down_controllers(base, path);
  CgroupTree tree(path);
  auto trial = tree.make("trial");
  if (!trial) return fail(trial.error());
  const bool can = accepts_children(*trial) && trial->is_empty();
  if (!trial->remove() || !can) {
    return fail(ErrorCode::Unavailable, path + ": no process can be started in a cgroup there");
  }
  return tree;
}

CgroupTree::~CgroupTree() {
  if (!path_.empty()) remove_all(path_);
}

KernelLimits CgroupTree::can_limit() const {
  const std::string switches = path_ + "/cgroup.subtree_control";
  return {names(switches, "memory"), names(switches, "pids"), names(switches, "cpu")};
}

Result<Cgroup> CgroupTree::make(const std::string& name, const CgroupLimits& limits) const {
  const std::string path = path_ + "/" + name;
  if (::mkdir(path.c_str(), 0755) != 0) {
    return fail(ErrorCode::Unavailable, "cannot make the cgroup " + path + ": " + std::strerror(errno));
  }
  Cgroup group = at(path);
  if (group.fd() < 0 || !hold_to(path, limits)) {
    const std::string why = std::strerror(errno);
    group.remove();
    return fail(ErrorCode::Unavailable, "cannot open the cgroup " + path + ", or set its limits: " + why);
  }
  return group;
}

bool hold_to(const std::string& path, const CgroupLimits& limits) {
  const auto is_there = [&path](const char* file) { return ::access((path + file).c_str(), F_OK) == 0; };
  bool done = true;
  if (limits.memory_bytes > 0 && is_there("/memory.max")) {
    done = put(path + "/memory.max", std::to_string(limits.memory_bytes)) &&
           put(path + "/memory.oom.group", "1");
    if (is_there("/memory.swap.max")) done = put(path + "/memory.swap.max", "0") && done;
  }
  if (limits.processes > 0 && is_there("/pids.max")) {
    done = put(path + "/pids.max", std::to_string(limits.processes)) && done;
  }
  if (limits.milli_cpus > 0 && is_there("/cpu.max")) {
    const std::int64_t quota_us = limits.milli_cpus * kCpuPeriodUs / 1000;
    done = put(path + "/cpu.max", std::to_string(quota_us) + " " + std::to_string(kCpuPeriodUs)) && done;
  }
  return done;
}

std::string tree_name(std::string_view state_dir) {
  const std::string token = state_token(state_dir);
  return "rota-" + token + (state_dir.empty() ? "-" + std::to_string(::getpid()) : "");
}

int clear_tree(const std::string& name, Millis patience) {
  int left = 0;
  for (const std::string& base : own_folders()) left += clear(base + "/" + name, patience);
  return left;
}

std::vector<std::string> cgroup_folders(const std::string& mountinfo, const std::string& own) {
  std::string inside;
  std::istringstream memberships(own);
  for (std::string line; std::getline(memberships, line);) {
    if (line.starts_with("0::/")) inside = line.substr(3);
  }
  std::vector<std::string> out;
  std::istringstream mounts(mountinfo);
  for (std::string line; !inside.empty() && std::getline(mounts, line);) {
    const std::size_t dash = line.find(" - cgroup2 ");
    if (dash == std::string::npos) continue;
    std::istringstream words(line.substr(0, dash));
    std::string id, parent, device, root, point;
    words >> id >> parent >> device >> root >> point;
    if (root == "/") root.clear();
    const bool is_below =
        inside.starts_with(root) && (inside.size() == root.size() || inside[root.size()] == '/');
    const bool is_plain = inside.find("/..") == std::string::npos && point.find('\\') == std::string::npos;
    if (!is_below || !is_plain) continue;
    const std::string rest = inside.substr(root.size());
    out.push_back(rest == "/" || rest.empty() ? point : point + rest);
  }
  return out;
}

}  // namespace rota::worker::warden
