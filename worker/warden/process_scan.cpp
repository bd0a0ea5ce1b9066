#include "worker/warden/process_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <utility>

#include "common/base/unique_fd.h"

namespace rota::worker::warden {

namespace {

constexpr std::size_t kMostEnvironment = 4u << 20;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::string content_of(const std::string& path, std::size_t most) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  if (!file.is_open()) return out;
  char part[4096];
  for (ssize_t got = 0; out.size() < most && (got = ::read(file.get(), part, sizeof part)) > 0;) {
    out.append(part, static_cast<std::size_t>(got));
  }
  return out;
}

std::string proc_path(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

pid_t pid_named(const char* name) {
  pid_t pid = -1;
  const std::string_view text(name);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  return error == std::errc{} && end == text.data() + text.size() ? pid : -1;
}

/// Makes the path absolute and removes ".", ".." and double slashes, by letters alone.
std::string plain_path(std::string_view path) {
  std::string whole(path);
  if (!path.starts_with('/')) {
    char here[4096];
    if (::getcwd(here, sizeof here) != nullptr) whole = std::string(here) + "/" + whole;
  }
  std::vector<std::string_view> parts;
  for (std::string_view rest = whole; !rest.empty();) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (part.empty() || part == "." || part == "..") continue;
    parts.push_back(part);
  }
  std::string out;
  for (const std::string_view part : parts) out.append("/").append(part);
  return out;
}

}  // namespace

std::optional<SeenProcess> look_at(pid_t pid) {
  const std::string stat = content_of(proc_path(pid, "stat"), 4096);
  const std::size_t name_end = stat.rfind(')');  // the name may hold anything, so count from its end
  if (name_end == std::string::npos) return std::nullopt;
  char state = 0;
  int parent = 0, session = 0, threads = 0;
  unsigned long long start = 0;
  long long user = 0, system = 0, waited_user = 0, waited_system = 0, pages = 0;
  const int got = std::sscanf(stat.c_str() + name_end + 1,
                              " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld %lld %*d %*d "
                              "%d %*d %llu %*u %lld",
                              &state, &parent, &session, &user, &system, &waited_user,
                              &waited_system, &threads, &start, &pages);
  if (got != 10) return std::nullopt;
  // A first thread that has ended shows as a zombie while others of its process live on.
  return SeenProcess{{pid, start}, parent, session, (state == 'Z' && threads <= 1) || state == 'X',
                     user + system + waited_user + waited_system, pages};
}

std::vector<SeenProcess> list_processes() {
  std::vector<SeenProcess> out;
  const Folder folder(::opendir("/proc"));
  if (!folder) return out;
  while (const dirent* entry = ::readdir(folder.get())) {
    const pid_t pid = pid_named(entry->d_name);
    if (pid <= 0) continue;
    if (auto seen = look_at(pid)) out.push_back(*seen);
  }
  return out;
}

std::optional<std::vector<pid_t>> own_children() {
  const std::string self = std::to_string(::getpid());
  UniqueFd file(::open(("/proc/self/task/" + self + "/children").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  // One read: the list is then made in one go.
  std::string text(64u << 10, '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0 || static_cast<std::size_t>(got) == text.size()) return std::nullopt;
  std::vector<pid_t> out;
  const char* at = text.data();
  const char* const end = at + got;
  for (pid_t pid = 0; at < end; ++at) {
    const auto [stop, error] = std::from_chars(at, end, pid);
    if (error != std::errc{}) break;
    out.push_back(pid);
    at = stop;
  }
  return out;
}

std::string state_token(std::string_view state_dir) {
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a, 64 bits
  for (const char c : plain_path(state_dir)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::string mark_of(std::string_view token, const AttemptKey& key) {
  return std::string(token) + "." + std::to_string(key.run.value) + "." +
         std::to_string(key.attempt);
}

std::string mark_in(pid_t pid) {
  const std::string environment = content_of(proc_path(pid, "environ"), kMostEnvironment);
  const std::string wanted = std::string(kMarkVariable) + "=";
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry(environment.data() + at, end - at);
    if (entry.starts_with(wanted)) return std::string(entry.substr(wanted.size()));
    at = end + 1;
  }
  return {};
}

bool signal_exactly(const ProcessIdentity& who, int signal) {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, who.pid, 0)));
  if (!pidfd.is_open()) return false;
  // The pidfd holds on to one process; if the start time is right now, it is the one that was meant.
  const auto seen = look_at(who.pid);
  if (!seen || seen->identity != who) return false;
  return ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) == 0;
}

bool holds_pipe(pid_t pid, const std::vector<std::uint64_t>& inodes) {
  const std::string path = proc_path(pid, "fd");
  const Folder folder(::opendir(path.c_str()));
  if (!folder) return false;
  while (const dirent* entry = ::readdir(folder.get())) {
    struct stat info {};
    if (::fstatat(::dirfd(folder.get()), entry->d_name, &info, 0) != 0) continue;
    if (S_ISFIFO(info.st_mode) && std::ranges::count(inodes, std::uint64_t{info.st_ino})) return true;
  }
  return false;
}

}  // namespace rota::worker::warden
