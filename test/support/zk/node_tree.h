// The nodes of a ZooKeeper server, and who is told about a change: the one model of them, which the fake
// server of the unit tests and the simulator's servers use. Pure; a copy is what a cut-off server still
// shows.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/zk/client.h"

namespace rota::zk {

/// Thread: one.
class NodeTree {
 public:
  struct Change {
    Event::Change what = Event::Change::None;
    std::string path;   ///< the node, or the folder whose children changed
  };

  /// `clock_ms`: the creation time of all its nodes.
  explicit NodeTree(std::int64_t clock_ms = 0) : clock_ms_(clock_ms) { nodes_["/"]; }

  /// Sets the creation time of later nodes.
  void set_clock(std::int64_t clock_ms) { clock_ms_ = clock_ms; }
  /// Returns the created path. NotFound (no folder), InvalidArgument (the folder is ephemeral), AlreadyExists.
  Result<std::string> create(const std::string& path, const std::string& data, CreateMode mode,
                             SessionId session);
  /// NotFound, Conflict (version, or has children).
  Result<void> remove(const std::string& path, std::int32_t version = kAnyVersion);
  /// NotFound, Conflict (another version).
  Result<NodeStat> set(const std::string& path, const std::string& data, std::int32_t version = kAnyVersion);
  /// Removes the nodes of a session that ends.
  void remove_nodes_of(SessionId session);
  /// The changes by the calls above that watches may report, in order; this call clears them.
  std::vector<Change> pop_changes() { return std::exchange(changes_, {}); }

  /// Null when there is none.
  const Node* find(std::string_view path) const;
  /// Names, sorted. NotFound.
  Result<std::vector<std::string>> list(const std::string& path) const;
  bool has_children(const std::string& path) const;
  /// The sequence that the next sequential node in this folder gets. The folder counts all children ever
  /// created in it, not only the sequential ones.
  void set_next_sequence(const std::string& folder, std::int32_t next);

  /// Of the last change.
  std::int64_t zxid() const { return zxid_; }
  /// When the node's data, and when its children were changed; 0 when there is none.
  std::int64_t changed_zxid(const std::string& path) const;
  std::int64_t children_zxid(const std::string& path) const;

 private:
  struct Entry {
    Node node;
    std::int32_t next_sequence = 0;
    std::int64_t changed = 0;
    std::int64_t children_changed = 0;
  };
  using Nodes = std::map<std::string, Entry, std::less<>>;

  void erase(Nodes::iterator at);
  static std::string folder_of(const std::string& path);

  std::int64_t clock_ms_;
  Nodes nodes_;
  std::int64_t zxid_ = 0;
  std::vector<Change> changes_;
};

/// The armed watches of one session; each fires once.
class Watches {
 public:
  /// By get, or by exists; `is_there`: the answer.
  void arm(const std::string& path, bool is_there) { data_[path] = is_there; }
  void arm_children(const std::string& folder) { children_.insert(folder); }
  /// Whether its owner is told; then it is no longer armed.
  bool hears(const NodeTree::Change& change);
  /// The events when its session, which has seen everything up to `since`, connects to a server that shows
  /// `now`. Like ZooKeeper, it does not report a node that came and went meanwhile.
  std::vector<NodeTree::Change> missed(const NodeTree& now, std::int64_t since);

 private:
  std::map<std::string, bool> data_;      ///< whether the node was there
  std::set<std::string> children_;
};

}  // namespace rota::zk
