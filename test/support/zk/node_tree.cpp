#include "test/support/zk/node_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace rota::zk {

using What = Event::Change;

namespace {

auto no_node(const std::string& path) { return fail(ErrorCode::NotFound, "model: no node " + path); }

std::string start_of_children(const std::string& folder) { return folder == "/" ? folder : folder + "/"; }

}  // namespace

Result<std::string> NodeTree::create(const std::string& path, const std::string& data, CreateMode mode,
                                     SessionId session) {
  const std::string folder = folder_of(path);
  const auto parent = nodes_.find(folder);
  if (parent == nodes_.end()) return no_node(folder);
  if (parent->second.node.stat.ephemeral_owner != 0) {
    return fail(ErrorCode::InvalidArgument, "model: an ephemeral node has no children");
  }
  std::string whole = path;
  if (mode == CreateMode::EphemeralSequential) whole += fmt::format("{:010}", parent->second.next_sequence);
  const auto [made, is_new] = nodes_.try_emplace(whole);
  if (!is_new) return fail(ErrorCode::AlreadyExists, "model: there is a node " + whole);
  Entry& folder_entry = parent->second;
  ++folder_entry.node.stat.children_version;
  folder_entry.next_sequence = static_cast<std::int32_t>(static_cast<std::uint32_t>(folder_entry.next_sequence) + 1);
  ++zxid_;
  made->second.node = {data, {0, mode == CreateMode::Persistent ? 0 : session, zxid_, clock_ms_, zxid_, 0}};
  made->second.changed = made->second.children_changed = folder_entry.children_changed = zxid_;
  changes_.push_back({What::Created, whole});
  changes_.push_back({What::Children, folder});
  return whole;
}

Result<void> NodeTree::remove(const std::string& path, std::int32_t version) {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return no_node(path);
  if (version != kAnyVersion && version != found->second.node.stat.version) {
    return fail(ErrorCode::Conflict, "model: another version of " + path);
  }
  if (has_children(path)) return fail(ErrorCode::Conflict, "model: children under " + path);
  erase(found);
  return {};
}

Result<NodeStat> NodeTree::set(const std::string& path, const std::string& data, std::int32_t version) {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return no_node(path);
  Node& node = found->second.node;
  if (version != kAnyVersion && version != node.stat.version) {
    return fail(ErrorCode::Conflict, "model: another version of " + path);
  }
  node.data = data;
  ++node.stat.version;
  found->second.changed = node.stat.changed_zxid = ++zxid_;
  changes_.push_back({What::Data, path});
  return node.stat;
}

void NodeTree::remove_nodes_of(SessionId session) {
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    const auto next = std::next(at);
    if (at->second.node.stat.ephemeral_owner == session) erase(at);
    at = next;
  }
}

void NodeTree::erase(Nodes::iterator at) {
  const std::string path = at->first;
  const std::string folder = folder_of(path);
  nodes_.erase(at);
  Entry& folder_entry = nodes_.find(folder)->second;
  ++folder_entry.node.stat.children_version;
  folder_entry.children_changed = ++zxid_;
  changes_.push_back({What::Deleted, path});
  changes_.push_back({What::Children, folder});
}

const Node* NodeTree::find(std::string_view path) const {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second.node;
}

Result<std::vector<std::string>> NodeTree::list(const std::string& path) const {
  if (find(path) == nullptr) return no_node(path);
  const std::string start = start_of_children(path);
  std::vector<std::string> names;
  for (auto at = nodes_.upper_bound(start); at != nodes_.end() && at->first.starts_with(start); ++at) {
    if (at->first.find('/', start.size()) == std::string::npos) names.push_back(at->first.substr(start.size()));
  }
  return names;
}

bool NodeTree::has_children(const std::string& path) const {
  const std::string start = start_of_children(path);
  const auto first = nodes_.upper_bound(start);
  return first != nodes_.end() && first->first.starts_with(start);
}

void NodeTree::set_next_sequence(const std::string& folder, std::int32_t next) {
  nodes_.at(folder).next_sequence = next;
}

std::int64_t NodeTree::changed_zxid(const std::string& path) const {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? 0 : found->second.changed;
}

std::int64_t NodeTree::children_zxid(const std::string& path) const {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? 0 : found->second.children_changed;
}

std::string NodeTree::folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

// --- watches ------------------------------------------------------------------------------------

/// A watcher of both data and children is told about a node's end once.
bool Watches::hears(const NodeTree::Change& change) {
  if (change.what == What::Children) return children_.erase(change.path) != 0;
  const bool heard = data_.erase(change.path) != 0;
  return change.what == What::Deleted ? children_.erase(change.path) + (heard ? 1 : 0) != 0 : heard;
}

std::vector<NodeTree::Change> Watches::missed(const NodeTree& now, std::int64_t since) {
  std::vector<NodeTree::Change> told;
  for (const auto& [path, was_there] : data_) {
    const bool is_there = now.find(path) != nullptr;
    if (!was_there && is_there) told.push_back({What::Created, path});
    if (was_there && !is_there) told.push_back({What::Deleted, path});
    if (was_there && is_there && now.changed_zxid(path) > since) told.push_back({What::Data, path});
  }
  for (const std::string& folder : children_) {
    if (now.find(folder) == nullptr) {
      const bool is_told = std::any_of(told.begin(), told.end(), [&](const auto& t) { return t.path == folder; });
      if (!is_told) told.push_back({What::Deleted, folder});
    } else if (now.children_zxid(folder) > since) {
      told.push_back({What::Children, folder});
    }
  }
  for (const NodeTree::Change& change : told) hears(change);
  return told;
}

}  // namespace rota::zk
