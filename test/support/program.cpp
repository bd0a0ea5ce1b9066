#include "test/support/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/base/file.h"

namespace rota::testing {

pid_t spawn(std::vector<std::string> words, const std::string& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid = -1;
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

Result<std::string> run(std::vector<std::string> words, const std::string& output) {
  std::error_code unused;
  std::filesystem::remove(output, unused);
  const std::string name = words.front();
  const pid_t pid = spawn(std::move(words), output);
  int status = 0;
  pid_t ended = -1;
  while (pid >= 0 && (ended = ::waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
  }
  if (pid < 0 || ended != pid) return fail(ErrorCode::Internal, "cannot run " + name);
  auto text = read_file(output, 64u << 20);
  if (!text) return text;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail(ErrorCode::Internal, name + " failed: " + *text);
  return text;
}

}  // namespace rota::testing
