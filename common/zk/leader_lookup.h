// Finds the leader: the first candidate whose node contains {epoch, address}, which it writes after its
// epoch transaction. Clients and followers ask here; workers learn the leader only by hello.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/zk/paths.h"
#include "common/zk/session.h"

namespace rota::zk {

struct LeaderHint {
  Epoch epoch;
  std::string host;
  std::uint16_t port = 0;
  bool operator==(const LeaderHint&) const = default;
};

/// The data of a candidate's node: JSON with the master's id and, once in office, the hint.
std::string candidate_data(const std::string& master_id, const LeaderHint* hint);
/// The hint in a candidate's data; NotFound when there is none.
Result<LeaderHint> hint_in(const std::string& data);

/// Reads ZooKeeper now. NotFound: a master is taking office, or there is none; retry in 50 ms.
Result<LeaderHint> find_leader(Client& client, const Paths& paths);

/// The same with a cache of `max_age` (at most 20 ms for "no leader"), for servers that are asked
/// often. Thread: any.
class LeaderLookup {
 public:
  LeaderLookup(Session& session, Paths paths, Millis max_age = Millis{100});
  /// Unavailable: no session with ZooKeeper.
  Result<LeaderHint> find();
  /// Clears the cache, after the hint turned out to be wrong.
  void forget();

 private:
  Session& session_;
  const Paths paths_;
  const Millis max_age_;
  std::mutex mutex_;
  MonoTime read_at_{};
  std::optional<Result<LeaderHint>> last_;
};

}  // namespace rota::zk
