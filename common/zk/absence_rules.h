// What a listing of ephemeral nodes proves when ZooKeeper itself may have lost data. Pure.
//
// A wiped ZooKeeper lists nobody; one restored from an older copy lists old nodes. Living processes need a
// session timeout and a moment to notice that and to register again. Nobody counts as absent before that.
// Nodes that no session owns prove nothing: a tool has copied them, and they never go away.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace rota::zk {

/// The longest session that servers with the longest tick grant; after it, all living processes are back.
constexpr Millis kAbsenceHold{40'000};

/// Changes have numbers that only grow. When a new change has a number that is not above one seen before,
/// the servers have lost data. `seen` 0: nothing was seen yet. An ensemble that was restored as a whole
/// counts on from a new election and may hide the loss; other users of the same servers may hide it too.
constexpr bool has_gone_back(std::int64_t seen, std::int64_t written_now) {
  return seen != 0 && written_now <= seen;
}

/// What the servers say about the folder: the number of the change that made it (a wiped server may give it
/// again) and the time by the server's clock. `version` grows by one with each of our writes, `children` with
/// each node created or deleted in it. Other users of the same servers change none of these.
struct FolderMark {
  std::int64_t made_zxid = 0;
  std::int64_t made_ms = 0;
  std::int32_t version = 0;
  std::int32_t children = 0;
};

/// The folder was made by another change, or at another time: everything in it is newer than that.
constexpr bool is_made_anew(const std::optional<FolderMark>& seen, const FolderMark& now) {
  return seen && (seen->made_zxid != now.made_zxid || seen->made_ms != now.made_ms);
}

/// Whether a folder, right after one of our writes, lacks something that was seen before. This shows a loss
/// even when the servers have counted on beyond all changes that were seen. `seen` empty: not read yet.
/// Versions wrap after 2^31 changes, which would delay sessions once.
constexpr bool has_lost(const std::optional<FolderMark>& seen, const FolderMark& written) {
  if (!seen) return false;
  return is_made_anew(seen, written) || written.version <= seen->version || written.children < seen->children;
}

/// The id in a node's name, which is `<id>@<incarnation>` or `<id>`.
constexpr std::string_view id_in_name(std::string_view name) { return name.substr(0, name.find('@')); }

/// When each node was created, by the servers' clock, in ms.
using MadeAt = std::map<std::string, std::int64_t>;

/// The names in the first listing after a loss that came back with the older data: such a name was not
/// reported before, and it is not newer than the reported one with its id (a newer one is a life that has
/// already registered again). `made`: of all names in `told` and `listed`.
template <typename Data>
std::set<std::string> older_names(const MadeAt& made, const std::map<std::string, Data>& told,
                                  const std::map<std::string, Data>& listed) {
  std::map<std::string_view, std::int64_t> latest;
  for (const auto& [name, data] : told) {
    auto& last = latest.try_emplace(id_in_name(name), made.at(name)).first->second;
    last = std::max(last, made.at(name));
  }
  std::set<std::string> older;
  for (const auto& [name, data] : listed) {
    const auto same = latest.find(id_in_name(name));
    const bool is_later = same != latest.end() && made.at(name) > same->second;
    if (!told.contains(name) && !is_later) older.insert(name);
  }
  return older;
}

/// The names reported as present that are not listed, and no other name with the same id is. `older`: names
/// that the older data brought back; an earlier life among them proves nothing about the present one.
template <typename Data>
std::set<std::string> awaited_names(const std::map<std::string, Data>& told,
                                    const std::map<std::string, Data>& listed,
                                    const std::set<std::string>& older) {
  std::set<std::string, std::less<>> here;
  for (const auto& [name, data] : listed) {
    if (!older.contains(name)) here.emplace(id_in_name(name));
  }
  std::set<std::string> awaited;
  for (const auto& [name, data] : told) {
    if (!listed.contains(name) && !here.contains(id_in_name(name))) awaited.insert(name);
  }
  return awaited;
}

}  // namespace rota::zk
