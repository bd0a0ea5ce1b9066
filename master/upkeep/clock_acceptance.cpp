#include "master/upkeep/clock_acceptance.h"

#include "master/upkeep/tick_hold.h"

namespace rota::master {
namespace {

constexpr std::string_view kAccepted = "accepted";

std::string folder_in(const zk::Paths& paths) { return paths.root() + "/clock_held"; }

Result<void> remove_if_there(zk::Client& client, const std::string& path) {
  auto removed = client.remove(path);
  if (!removed && removed.error().code != ErrorCode::NotFound) return fail(removed.error());
  return {};
}

}  // namespace

ClockHoldNote::ClockHoldNote(const zk::Paths& paths, const std::string& master_id)
    : folder_(folder_in(paths)), path_(folder_ + "/" + master_id) {}

Result<void> ClockHoldNote::note(zk::Client& client, const ClockHold& hold) const {
  auto folder = client.create(folder_, "", zk::CreateMode::Persistent);
  if (!folder && folder.error().code != ErrorCode::AlreadyExists) return fail(folder.error());
  if (auto removed = remove_if_there(client, path_); !removed) return removed;
  auto made = client.create(path_, words_of(hold), zk::CreateMode::Persistent);
  return made ? Result<void>() : fail(made.error());
}

/// A clock that has moved on by another step is not the one that an operator has looked at.
bool ClockHoldNote::is_noted(const ClockHold& hold) const {
  return noted_ && noted_->since == hold.since &&
         std::chrono::abs(noted_->by - hold.by) <= ClockStepOptions{}.step;
}

bool ClockHoldNote::follow(zk::Client& client, const std::optional<ClockHold>& hold) {
  if (!hold) {
    noted_.reset();
    if (!is_gone_) is_gone_ = remove_if_there(client, path_).has_value();
    return false;
  }
  if (!is_noted(*hold)) {
    is_gone_ = false;
    if (note(client, *hold)) noted_ = hold;
    return false;
  }
  const auto found = client.get(path_, zk::Watch::No);
  if (!found && found.error().code == ErrorCode::NotFound) noted_.reset();  // its data were lost; told again
  return found && found->data == kAccepted;
}

Result<std::vector<std::string>> accept_clocks(zk::Client& client, const zk::Paths& paths,
                                               std::set<std::string>& told) {
  const std::string folder = folder_in(paths);
  const auto masters = client.list(folder, zk::Watch::No);
  if (!masters && masters.error().code == ErrorCode::NotFound) return std::vector<std::string>{};
  if (!masters) return fail(masters.error());
  std::vector<std::string> words;
  for (const std::string& master : *masters) {
    if (told.contains(master)) continue;
    const std::string path = folder + "/" + master;
    const auto node = client.get(path, zk::Watch::No);
    if (!node && node.error().code == ErrorCode::NotFound) continue;
    if (!node) return fail(node.error());
    const auto written = client.set(path, std::string(kAccepted), node->stat.version);
    if (!written) {
      const ErrorCode code = written.error().code;
      // The master has just changed its note: what was read is not what it holds for now.
      if (code == ErrorCode::NotFound || code == ErrorCode::Conflict) continue;
      return fail(written.error());
    }
    told.insert(master);
    words.push_back(master + ": " + node->data);
  }
  return words;
}

}  // namespace rota::master
