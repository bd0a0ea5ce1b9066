#include "master/upkeep/zookeeper_keeper.h"

#include <utility>

#include "common/base/log.h"
#include "master/office/takeover.h"
#include "master/office/zookeeper_word.h"

namespace rota::master {

void ZookeeperKeeper::begin(Epoch epoch, const std::string& cluster_uuid) {
  epoch_ = epoch;
  uuid_ = cluster_uuid;
  known_.reset();
  complained_ = false;
}

Result<ZookeeperFinding> ZookeeperKeeper::look(zk::Client& client, const zk::Paths& paths,
                                               store::Office& office, bool alarmed) {
  if (known_) {
    auto as_left = is_as_left(client, paths);
    if (!as_left) return fail(as_left.error());
    if (*as_left) return hear(client, paths, office);
  }
  auto look = look_at_zookeeper(client, paths, office);
  if (!look) return fail(look.error());
  if (look->marks.epoch != epoch_) return ZookeeperFinding::Refused;
  if (look->belonging == Belonging::Anothers) {
    if (!std::exchange(complained_, true)) {
      log_error("term", "ZooKeeper is another cluster's",
                {{"why", words_of_hold(OfficeRuling::Refuse, {look->belonging}, look->marks, paths.root())}});
    }
    return ZookeeperFinding::Refused;
  }
  known_ = look->marks.zookeeper;
  if (known_ && look->belonging == Belonging::Ours) return hear(client, paths, office);
  return repair(client, paths, office, *look, alarmed);
}

Result<bool> ZookeeperKeeper::is_as_left(zk::Client& client, const zk::Paths& paths) const {
  auto epoch = zk::read_epoch(client, paths);
  if (!epoch) return fail(epoch.error());
  auto identity = zk::read_identity(client, paths);
  if (!identity) return fail(identity.error());
  return *identity == known_->identity && epoch->epoch >= epoch_;
}

/// The database is told between ZooKeeper's identity and its epoch: who looks meanwhile finds them at odds,
/// and leaves the office alone.
Result<ZookeeperFinding> ZookeeperKeeper::repair(zk::Client& client, const zk::Paths& paths,
                                                 store::Office& office, const ZookeeperLook& look,
                                                 bool alarmed) {
  known_.reset();
  if (auto made = zk::ensure_cluster(client, paths); !made) return fail(made.error());
  if (alarmed) {
    if (auto raised = raise_restore_alarm(client, paths, epoch_); !raised) return fail(raised.error());
  }
  auto identity = zk::renew_identity(client, paths);
  if (!identity) return fail(identity.error());
  const auto after = zookeeper_after(OfficeRuling::Adopt, *identity, look.marks.zookeeper);
  if (auto settled = office.settle_zookeeper(epoch_, after); !settled) {
    if (settled.error().code == ErrorCode::Fenced) return ZookeeperFinding::Refused;
    return fail(settled.error());
  }
  if (look.epoch.epoch < epoch_) {
    auto raised = zk::write_epoch(client, paths, epoch_, look.epoch);
    if (!raised) return fail(raised.error());
  }
  if (!look.uuid) {
    if (auto made = zk::create_cluster_uuid(client, paths, uuid_); !made) return fail(made.error());
  }
  known_ = after;
  log_error("term", "ZooKeeper had lost what it knew of this cluster, or went back; it is written again",
            {{"epoch", epoch_.value}, {"epoch_found", look.epoch.epoch.value},
             {"identity_found", look.identity ? "another" : "none"}});
  return ZookeeperFinding::Repaired;
}

/// While workers are waited for, the operator may say that they are gone.
Result<ZookeeperFinding> ZookeeperKeeper::hear(zk::Client& client, const zk::Paths& paths,
                                               store::Office& office) {
  if (known_->wait_below == 0) return ZookeeperFinding::Fine;
  auto word = read_word(client, paths, epoch_);
  if (!word) return fail(word.error());
  if (*word != OperatorWord::WorkersGone) return ZookeeperFinding::Fine;
  store::KnownZookeeper after = *known_;
  after.wait_below = 0;
  if (auto settled = office.settle_zookeeper(epoch_, after); !settled) return fail(settled.error());
  known_ = after;
  log_warn("term", "the operator says that workers which ZooKeeper has never seen are gone");
  (void)clear_word(client, paths);  // void with the next epoch anyway
  return ZookeeperFinding::WorkersGone;
}

}  // namespace rota::master
