// What the API needs of the rest of the master: a way into the present Term if this master leads,
// and the leader's address if not. Implemented by Master.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/model/worker.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/core/snapshot.h"
#include "master/core/workers/node_facts.h"

namespace rota::master::api {

struct MasterView {
  std::string id;
  model::Address address;
  bool leads = false;
  std::string health = {};           ///< what its self check found; empty: it has not said
  model::Address page = {};          ///< of its status page; port 0: it has told of none
  std::string elector = {};          ///< empty: it has not said
  std::string database = {};         ///< the database server that it uses; empty: it has not said
  bool knows_slices = false;         ///< it reads all of core/time/watermark.h; older masters do not
  bool knows_contents = false;       ///< it reads definitions that are stored by content; likewise
  bool knows_late_rows = false;      ///< it reads freezes, and runs that wait to be caught up; likewise
  bool knows_worker_starts = false;  ///< it reads runs of worker starts; likewise
  bool knows_child_runs = false;     ///< it begins child jobs; likewise
};

/// How this process and its host fare.
struct MasterFigures {
  std::string version;
  WallTime started{};
  std::int32_t cpu_percent = 0;        ///< of the host, in the last seconds
  std::int32_t memory_percent = 0;     ///< of the host
  std::int64_t disk_free_bytes = 0;    ///< where the state folder lies
  std::int32_t threads = 0;            ///< of the process, as the next one
  std::int64_t resident_bytes = 0;
  MonoTime sampled{};
};

/// Thread: any.
class LeaderPort {
 public:
  virtual ~LeaderPort() = default;
  /// Whether this master leads now, and since which epoch.
  virtual std::optional<Epoch> leading() const = 0;
  /// Puts the event into the Term's inbox. NotLeader (surely not done) or Overloaded when it can't.
  virtual Result<void> post(core::Event event) = 0;
  /// The leader's address as far as known; empty while nobody has published.
  virtual std::optional<model::Address> leader() const = 0;
  /// The loop's last snapshot; null when not leading.
  virtual std::shared_ptr<const core::Snapshot> snapshot() const = 0;
  /// For how long nobody has been known to lead, and what keeps this master from it; empty: not
  /// known.
  virtual std::string why_nobody_leads() const { return {}; }
  /// "the database does not answer since ..."; empty: it does, as far as known.
  virtual std::string database_silence() const { return {}; }
  virtual std::vector<MasterView> masters() const = 0;
  /// Of this master; empty: nobody has looked yet.
  virtual std::optional<MasterFigures> figures() const { return std::nullopt; }
  /// What the leader noted beside its loop; null when not leading.
  virtual std::shared_ptr<const core::NodeFacts> node_facts() const { return nullptr; }
  /// One word per part and why: {"database", "ok"}, {"zookeeper", "suspended since ..."}
  virtual std::vector<std::pair<std::string, std::string>> health() const = 0;
};

/// Where the loop's replies go. Implemented by the API server, called by the loop. Never blocks.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void reply(Token token, core::ReplyBody body) = 0;
};

}  // namespace rota::master::api
