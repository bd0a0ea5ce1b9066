#include "master/office/zookeeper_word.h"

#include <fmt/format.h>

#include "common/zk/cluster_nodes.h"
#include "master/office/zookeeper_look.h"

namespace rota::master {
namespace {

constexpr std::string_view kWorkersGone = " workers_gone";

std::string word_path(const zk::Paths& paths) { return paths.root() + "/accept_new_zookeeper"; }

Result<void> put_word(zk::Client& client, const zk::Paths& paths, const std::string& word) {
  if (auto made = zk::ensure_folder(client, paths.root()); !made) return made;
  auto created = client.create(word_path(paths), word, zk::CreateMode::Persistent);
  if (created) return {};
  if (created.error().code != ErrorCode::AlreadyExists) return fail(created.error());
  auto set = client.set(word_path(paths), word);
  return set ? Result<void>() : fail(set.error());
}

}  // namespace

Result<OperatorWord> read_word(zk::Client& client, const zk::Paths& paths, Epoch in_database) {
  auto node = client.get(word_path(paths), zk::Watch::No);
  if (!node) {
    if (node.error().code == ErrorCode::NotFound) return OperatorWord::None;
    return fail(node.error());
  }
  const std::string epoch = std::to_string(in_database.value);
  if (node->data == epoch) return OperatorWord::Accepted;
  return node->data == epoch + std::string(kWorkersGone) ? OperatorWord::WorkersGone : OperatorWord::None;
}

Result<void> clear_word(zk::Client& client, const zk::Paths& paths) {
  auto removed = client.remove(word_path(paths));
  if (!removed && removed.error().code != ErrorCode::NotFound) return removed;
  return {};
}

Result<std::string> accept_new_zookeeper(zk::Client& client, const zk::Paths& paths, store::Office& office,
                                         bool workers_gone) {
  auto look = look_at_zookeeper(client, paths, office);
  if (!look) return fail(look.error());
  if (look->belonging == Belonging::Anothers) {
    return fail(ErrorCode::Conflict,
                words_of_hold(OfficeRuling::Refuse, {look->belonging}, look->marks, paths.root()));
  }
  const bool is_ours = look->belonging == Belonging::Ours || look->belonging == Belonging::Unmarked;
  const bool awaits = look->marks.zookeeper && look->marks.zookeeper->wait_below > 0;
  if (is_ours && !(workers_gone && awaits)) {
    return fmt::format("nothing to accept: ZooKeeper at {} is the one that this database is led through",
                       paths.root());
  }
  const std::string epoch = std::to_string(look->marks.epoch.value);
  const std::string word = epoch + std::string(workers_gone ? kWorkersGone : "");
  if (auto put = put_word(client, paths, word); !put) return fail(put.error());
  const std::string_view then =
      workers_gone ? "what workers held that it has never seen is run again"
                   : "runs on workers that it has never seen wait until these come back, or for "
                     "--accept-new-zookeeper --workers-gone";
  return fmt::format("accepted ZooKeeper at {} for the database that '{}' led last, at {}, with epoch {}; {}",
                     paths.root(), look->marks.holder.name, look->marks.holder.address, epoch, then);
}

}  // namespace rota::master
