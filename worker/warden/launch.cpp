#include "worker/warden/launch.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rota::worker::warden {

namespace {

/// `rota-warden` in the folder of the running executable.
std::string warden_beside_us() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) return "rota-warden";
  std::string own(path, static_cast<std::size_t>(size));
  return own.substr(0, own.rfind('/') + 1) + "rota-warden";
}

}  // namespace

Error exec_under_warden(const LaunchOptions& options, const std::vector<std::string>& proper) {
  const std::string path = options.warden_path.empty() ? warden_beside_us() : options.warden_path;
  std::vector<std::string> words{path, "--means", options.means};
  if (!options.state_dir.empty()) {
    words.insert(words.end(), {"--state-dir", options.state_dir});
  }
  if (!options.cgroup_dir.empty()) {
    words.insert(words.end(), {"--cgroup-dir", options.cgroup_dir});
  }
  if (options.max_attempts > 0) {
    words.insert(words.end(), {"--max-attempts", std::to_string(options.max_attempts)});
  }
  words.emplace_back("--");
  words.insert(words.end(), proper.begin(), proper.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  return Error(ErrorCode::Unavailable, "cannot run " + path + ": " + std::strerror(errno));
}

}  // namespace rota::worker::warden
