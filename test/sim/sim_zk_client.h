// A session of a simulated world's ZooKeeper with production's interface: one call after another. Each call may
// fail, lose its answer, or find that another process came between.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/zk/client.h"
#include "marks.h"
#include "random.h"
#include "sim_zookeeper.h"

namespace rota::sim {

struct ZkCallFaults {
  int lost_per_mille = 0;        ///< half of the lost writes took effect
  int between_per_mille = 0;     ///< `between` runs before the call
  int dies_per_mille = 0;        ///< this and every later call fails
};

/// Thread: one. All references outlive it.
class SimZkClient final : public zk::Client {
 public:
  /// A client of a session that goes on without it, unless it is closed.
  SimZkClient(SimZookeeper& zookeeper, zk::SessionId session, std::size_t server, Random& random,
              Marks& marks, ZkCallFaults faults = {}, std::function<void()> between = {})
      : zookeeper_(zookeeper), session_(session), server_(server), random_(random), marks_(marks),
        faults_(faults), between_(std::move(between)) {}

  /// Whether a fault killed it, with its process.
  bool is_dead() const { return dead_; }

  Result<std::string> create(const std::string& path, const std::string& data, zk::CreateMode mode) override;
  Result<void> remove(const std::string& path, std::int32_t version) override;
  Result<zk::Node> get(const std::string& path, zk::Watch watch) override;
  std::vector<Result<zk::Node>> get_many(const std::vector<std::string>& paths, zk::Watch watch) override;
  Result<std::optional<zk::NodeStat>> exists(const std::string& path, zk::Watch watch) override;
  Result<zk::NodeStat> set(const std::string& path, const std::string& data, std::int32_t version) override;
  Result<std::vector<std::string>> list(const std::string& path, zk::Watch watch) override;
  Result<void> sync(const std::string& path) override;
  zk::SessionId session_id() const override { return session_; }
  zk::SessionState state() const override;
  Millis session_timeout() const override { return zookeeper_.timeout_of(session_); }
  zk::Credentials credentials() const override;
  bool close() override;
  bool abandon() override;

 private:
  enum class Fate { Done, AnswerLost, NotDone };
  static Error unavailable() { return {ErrorCode::Unavailable, "no answer from this server"}; }
  static Error unknown() { return {ErrorCode::UnknownOutcome, "the answer was lost"}; }
  static Error no_node(const std::string& path) { return {ErrorCode::NotFound, path}; }
  Result<void> enter(bool writes);
  Fate draw();
  template <typename Answer, typename Deed>
  Result<Answer> write(Deed deed);
  const zk::NodeTree& view() const { return zookeeper_.view(server_); }

  SimZookeeper& zookeeper_;
  const zk::SessionId session_;
  const std::size_t server_;
  Random& random_;
  Marks& marks_;
  const ZkCallFaults faults_;
  const std::function<void()> between_;
  bool dead_ = false;
};

}  // namespace rota::sim
