#include "master/office/identity_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace rota::master {
namespace {

constexpr std::string_view kCommand = "rota-master --accept-new-zookeeper --config FILE";

std::string who_led(const store::Office::Marks& marks) {
  const store::Holder& holder = marks.holder;
  return fmt::format("master '{}'{} (epoch {})", holder.name,
                     holder.address.empty() ? "" : " at " + holder.address, marks.epoch.value);
}

std::string what_differs(Belonging belonging, const std::string& path) {
  if (belonging == Belonging::Behind) {
    return fmt::format("ZooKeeper at {} is behind the database: it went back, or somebody leads through "
                       "a copy of it",
                       path);
  }
  return fmt::format("ZooKeeper at {} is not the one that this database is led through", path);
}

}  // namespace

Belonging belonging_of(const IdentityFacts& facts) {
  if (facts.uuid && !facts.known_uuid.empty() && *facts.uuid != facts.known_uuid) return Belonging::Anothers;
  const bool same = facts.identity == facts.known_identity;
  const bool behind = facts.epoch < facts.known_epoch;
  if (facts.known_identity) {
    if (!same) return Belonging::Replaced;
    return behind ? Belonging::Behind : Belonging::Ours;
  }
  if (facts.known_epoch == Epoch{0}) return Belonging::Unmarked;
  if (!facts.uuid) return Belonging::Replaced;  // led by masters that wrote no identity, and wiped since
  return behind ? Belonging::Behind : Belonging::Unmarked;
}

OfficeRuling rule_office(const OfficeFacts& facts) {
  switch (facts.belonging) {
    case Belonging::Ours:
      return facts.word == OperatorWord::WorkersGone ? OfficeRuling::TakeWithoutWorkers : OfficeRuling::Take;
    case Belonging::Unmarked: return OfficeRuling::TakeAndMark;
    case Belonging::Anothers: return OfficeRuling::Refuse;
    case Belonging::Replaced:
    case Belonging::Behind: break;
  }
  if (facts.word == OperatorWord::Accepted) return OfficeRuling::TakeAccepted;
  if (facts.word == OperatorWord::WorkersGone) return OfficeRuling::TakeWithoutWorkers;
  if (facts.quiet < facts.quiet_needed) return OfficeRuling::HoldLed;
  return facts.held > 0 ? OfficeRuling::HoldUnfinished : OfficeRuling::Adopt;
}

bool replaces(OfficeRuling ruling) {
  return ruling == OfficeRuling::Adopt || ruling == OfficeRuling::TakeAccepted ||
         ruling == OfficeRuling::TakeWithoutWorkers;
}

store::KnownZookeeper zookeeper_after(OfficeRuling ruling, const zk::Identity& identity,
                                      const std::optional<store::KnownZookeeper>& known) {
  store::KnownZookeeper after = known.value_or(store::KnownZookeeper{});
  after.identity = identity;
  if (replaces(ruling)) after.wait_below = ++after.number;
  if (ruling == OfficeRuling::TakeWithoutWorkers) after.wait_below = 0;
  return after;
}

std::string words_of_hold(OfficeRuling ruling, const OfficeFacts& facts, const store::Office::Marks& marks,
                          const std::string& path) {
  if (ruling == OfficeRuling::Refuse) {
    return fmt::format("ZooKeeper at {} belongs to another cluster, the database to cluster {}, led last by "
                       "{}; point zookeeper.connect, cluster and database.name at the same cluster",
                       path, marks.cluster_uuid, who_led(marks));
  }
  const std::string what = what_differs(facts.belonging, path);
  if (ruling == OfficeRuling::HoldLed) {
    const auto needed = std::chrono::duration_cast<std::chrono::seconds>(facts.quiet_needed);
    return fmt::format("{}: it is led by {}, or was within {} s; this master leaves it alone. If that "
                       "cluster is over and this ZooKeeper is to be used: {}",
                       what, who_led(marks), needed.count(), kCommand);
  }
  return fmt::format("{}: led last by {}, and {} of its attempts have not ended and may live where this "
                     "ZooKeeper knows nothing of; make sure that those masters are stopped, then: {}",
                     what, who_led(marks), facts.held, kCommand);
}

Millis QuietWatch::look(const store::Office::Marks& marks, MonoTime now) {
  const Sign sign{marks.epoch, marks.watermark, marks.beats};
  if (seen_ != sign) {
    seen_ = sign;
    since_ = now;
  }
  return floor_ms(now - since_);
}

}  // namespace rota::master
