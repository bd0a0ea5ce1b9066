#include "master/upkeep/known_slices.h"

#include <string>
#include <vector>

#include "common/base/log.h"
#include "master/office/master_node.h"

namespace rota::master {
namespace {

constexpr Millis kLookEvery{1900};

}  // namespace

std::optional<bool> all_masters(zk::Client& client, const zk::Paths& paths, bool api::MasterView::*knows) {
  const auto names = client.list(paths.masters(), zk::Watch::No);
  if (!names) return std::nullopt;
  std::vector<std::string> nodes;
  for (const std::string& name : *names) nodes.push_back(paths.masters() + "/" + name);
  for (const auto& node : client.get_many(nodes, zk::Watch::No)) {
    if (!node && node.error().code != ErrorCode::NotFound) return std::nullopt;
    if (node && !(master_in(node->data).*knows)) return false;
  }
  return true;
}

std::optional<bool> all_know_slices(zk::Client& client, const zk::Paths& paths) {
  return all_masters(client, paths, &api::MasterView::knows_slices);
}

bool SlicesKnown::begin_term(zk::Client* client, const zk::Paths& paths) {
  const bool all = client != nullptr && all_know_slices(*client, paths).value_or(false);
  const std::scoped_lock lock(mutex_);
  return told_ = all;
}

std::optional<bool> SlicesKnown::changed(zk::Client& client, const zk::Paths& paths, MonoTime now) {
  {
    const std::scoped_lock lock(mutex_);
    if (now - looked_ < kLookEvery) return std::nullopt;
    looked_ = now;
  }
  const auto all = all_know_slices(client, paths);
  const std::scoped_lock lock(mutex_);
  if (!all || *all == told_) return std::nullopt;
  told_ = *all;
  if (!told_) log_warn("term", "an older master is registered; a huge moment is stored in one batch");
  return all;
}

}  // namespace rota::master
