// A real rota-worker process (warden and proper) in a folder of its own, on a real ZooKeeper, and the
// words of a leader to it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "WorkerService.h"
#include "common/model/worker.h"
#include "common/rpc/channel.h"
#include "common/zk/client.h"
#include "test/integration/worker/fake_master.h"
#include "test/support/patience.h"

namespace rota::testing {

/// One ZooKeeper for the whole test program.
const std::string& zookeeper_address();

/// Stops that server from answering (SIGSTOP), until the end of its life.
class ZookeeperPause {
 public:
  ZookeeperPause();
  ~ZookeeperPause() { end(); }
  void end();

 private:
  bool is_on_ = true;
};

/// For how long ZooKeeper's session and the leader's grant vouch for a worker. By default for longer than a machine
/// stands still.
struct Vouching {
  Millis session{10'000};  ///< the most that a worker asks of a server with ticks of 500 ms
  Millis grant{20'000};
};
/// Of cases in which they lapse.
inline constexpr Vouching kBrief{Millis{3000}, Millis{3000}};

struct WorkerSettings {
  std::string id = "w1";
  std::string binary = ROTA_WORKER;
  std::string extra_yaml;              ///< more lines of the configuration
  Vouching vouching = {};
};

class WorkerUnderTest {
 public:
  explicit WorkerUnderTest(WorkerSettings settings = {});
  /// In the same cluster as another.
  WorkerUnderTest(WorkerSettings settings, const WorkerUnderTest& beside);
  ~WorkerUnderTest();

  void start();
  /// Waits until its node is there (another life than `than`), and says hello in the name of the master.
  /// Empty life: it did not come.
  model::WorkerKey join(FakeMaster& master, std::int64_t epoch = 1, const std::string& than = {});
  std::optional<thrift::Inventory> hello(FakeMaster& master, std::int64_t epoch);

  static thrift::DispatchItem command(std::int64_t run, std::vector<std::string> argv);
  static thrift::DispatchItem handler(std::int64_t run, const std::string& name);
  /// The refusal's name, "none", or "rpc: ..." for one item.
  std::string dispatch(const thrift::DispatchItem& item, std::int64_t epoch = 1);
  std::vector<std::string> dispatch_all(const std::vector<thrift::DispatchItem>& items);
  void cancel(std::int64_t run, Millis grace);
  bool drain(bool draining, std::int64_t order);
  thrift::Inventory inventory();
  /// Waits until the inventory calls the run finished.
  bool wait_finished(std::int64_t run);

  /// The nodes of this worker that stand now, by incarnation.
  std::vector<model::WorkerInfo> nodes();
  bool wait_draining(Millis at_most = kPatience);
  pid_t proper();                      ///< its pid as the host sees it
  static pid_t parent_of(pid_t pid);
  /// Living processes of attempts, by the marker in their environment. One that is becoming another program
  /// shows none for that moment.
  std::vector<pid_t> living() const;
  static bool is_up(pid_t pid);
  void signal(int signal) const;       ///< to the outermost process
  /// The exit status, or -1 after the timeout.
  int wait_exit(Millis at_most = kPatience);
  const std::string& folder() const { return folder_; }
  std::string log_text() const;

 private:
  void write_configuration();
  void connect();

  WorkerSettings settings_;
  std::string cluster_;
  std::string folder_;
  pid_t pid_ = -1;
  std::unique_ptr<zk::Client> zk_;
  model::WorkerInfo info_;
  std::unique_ptr<rpc::Channel<thrift::WorkerServiceClient>> channel_;
};

}  // namespace rota::testing
