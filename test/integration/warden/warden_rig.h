// A real rota-warden whose worker proper is a double that hands its socket to the test, so that a test
// case speaks to the warden through the very client that the worker uses.
#pragma once

#include <sys/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "test/support/patience.h"
#include "worker/warden/warden_client.h"

namespace rota::test {

namespace warden = rota::worker::warden;
using testing::eventually;
using testing::kPatience;
using warden::AttemptKey;

/// A name for an attempt that reads well: key(7) is attempt 1 of run 7.
AttemptKey key(std::int64_t run, AttemptNo attempt = 1);
/// A start of `/bin/sh -c script`.
warden::Start shell(std::int64_t run, std::string script);
warden::Start command(std::int64_t run, std::vector<std::string> argv);

class WardenUnderTest {
 public:
  /// `means`: auto, cgroup or scan. Waits until the double has connected, and vouches for an hour unless told
  /// otherwise.
  explicit WardenUnderTest(std::string means = "auto", bool vouched = true, std::string cgroup_dir = {});
  ~WardenUnderTest();
  WardenUnderTest(const WardenUnderTest&) = delete;
  WardenUnderTest& operator=(const WardenUnderTest&) = delete;

  warden::WardenClient& client() { return *client_; }
  pid_t outer_pid() const { return outer_; }
  pid_t proper_pid() const { return proper_; }    ///< as the host counts
  pid_t inner_pid() const;                        ///< the one child of the outer warden; scan: itself
  const warden::Welcome& welcome() const { return welcome_; }
  const std::string& folder() const { return folder_; }
  const std::string& state_dir() const { return folder_; }

  /// Closes the test's end of the socket, as a death of the proper would.
  void drop_client() { client_.reset(); }
  /// Waits for the next life of the double, and adopts its socket.
  void await_next_life();
  /// Waits for a notice of this kind with this key; others are kept for later calls.
  template <typename T>
  T await(const AttemptKey& wanted);
  template <typename T>
  T await_any();
  /// start, then Started.
  warden::Started start(const warden::Start& request);
  /// SIGKILL by pid, only of processes that this object started.
  void kill_nine(pid_t pid);
  /// Waits until the outer warden has ended; its wait status.
  int wait_for_end();

 private:
  template <typename T>
  T await_if(const std::function<bool(const T&)>& fits);
  void launch(const std::string& means, const std::string& cgroup_dir);

  std::string folder_;
  UniqueFd listener_;
  pid_t outer_ = -1;
  pid_t proper_ = -1;
  std::unique_ptr<warden::WardenClient> client_;
  warden::Welcome welcome_;
  std::deque<warden::Notice> kept_;
};

/// Whether this host lets us make cgroups of version 2.
bool has_cgroups();
/// The means that attempts can be held by here.
std::vector<std::string> means_here();
/// Everything that comes out of a pipe until its end.
std::string read_all(int fd);
/// Waits until the file has a line (its first), and returns it without the newline.
std::string await_line_in(const std::string& path);
/// Host pids of living processes (no zombies) whose environment or command line holds the text.
std::vector<pid_t> processes_with(const std::string& text);
/// Open descriptors of a process.
std::size_t descriptors_of_process(pid_t pid);
/// Zombies among the children of a process, and of their children.
std::size_t zombies_below(pid_t pid);
bool is_alive(pid_t pid);

}  // namespace rota::test
