#include "master/office/candidate_words.h"

#include <fmt/format.h>

#include "master/office/master_node.h"

namespace rota::master {

std::string words_on_candidate(zk::Client& client, const zk::Paths& paths, const std::string& name) {
  const std::string path = paths.election() + "/" + name;
  const auto node = client.get(path, zk::Watch::No);
  if (!node) return path;
  const std::string id = master_in(node->data).id;
  const auto other = client.get(paths.masters() + "/" + id, zk::Watch::No);
  if (!id.empty() && other) return fmt::format("{} (it says: {})", id, master_in(other->data).health);
  return fmt::format("{}, which no registered master has made (it names '{}'; made in session {:#x}); "
                     "end who made it, or delete it",
                     path, id, static_cast<std::uint64_t>(node->stat.ephemeral_owner));
}

std::string words_on_master(zk::Client& client, const zk::Paths& paths, const std::string& id) {
  const auto node = client.get(paths.masters() + "/" + id, zk::Watch::No);
  return node ? fmt::format("{} (it says: {})", id, master_in(node->data).health) : id;
}

}  // namespace rota::master
