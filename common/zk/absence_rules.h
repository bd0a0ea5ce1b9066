// What a listing of ephemeral nodes proves when ZooKeeper itself may have lost data. Pure.
//
// Wiped, or restored from an older copy, it shows nobody, or those of a while ago: whoever lives needs a
// session timeout and a moment to notice and to register again. Nobody is called absent before that.
// Nodes that no session owns prove nothing at all: a tool has copied them, and they never go.
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

/// The longest session that servers of the longest tick grant, after which all who live are back.
constexpr Millis kAbsenceHold{40'000};

/// Changes are numbered, and numbers only grow: a new change with a number that is not above one seen
/// before is of servers that forgot. `seen` 0: nothing was seen yet. An ensemble that was restored as a
/// whole counts on from a new election and may hide it, and so may others that use the same servers.
constexpr bool has_gone_back(std::int64_t seen, std::int64_t written_now) {
  return seen != 0 && written_now <= seen;
}

/// What the servers tell of the folder. It was made by a change with a number, which a wiped server gives
/// again, and at a time by its clock; `version` grows by one with each write of ours, `children` with each
/// node made or deleted in it. Other users of the same servers move none of these.
struct FolderMark {
  std::int64_t made_zxid = 0;
  std::int64_t made_ms = 0;
  std::int32_t version = 0;
  std::int32_t children = 0;
};

/// A folder that was made by another change, or at another time: what stands in it was all made since.
constexpr bool is_made_anew(const std::optional<FolderMark>& seen, const FolderMark& now) {
  return seen && (seen->made_zxid != now.made_zxid || seen->made_ms != now.made_ms);
}

/// Whether a folder, as it is right after a write of ours, lacks what was seen of it before: then a loss
/// shows even where the servers have counted on beyond all changes that were seen. `seen` empty: not read
/// yet. Versions wrap after 2^31 changes, which would hold sessions up once.
constexpr bool has_lost(const std::optional<FolderMark>& seen, const FolderMark& written) {
  if (!seen) return false;
  return is_made_anew(seen, written) || written.version <= seen->version || written.children < seen->children;
}

/// The part of a node's name that names who it is: `<id>@<incarnation>`, or `<id>`.
constexpr std::string_view id_in_name(std::string_view name) { return name.substr(0, name.find('@')); }

/// When each node was made, by the servers' clock, in ms.
using MadeAt = std::map<std::string, std::int64_t>;

/// Of those that the first listing after a loss shows, who came back with the older data: nobody was told of
/// him, and he was not made after the one of his id who was told. A later life has already registered anew.
/// `made`: of all who are told or listed.
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

/// Of those told as present, who is not listed, nor anybody with the same id. `older`: names that the older
/// data brought back; an earlier life among them says nothing of the present one of its id.
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
