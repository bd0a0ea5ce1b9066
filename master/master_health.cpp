// What a master says of itself and its servers.
#include <algorithm>
#include <iterator>

#include "master/master.h"

namespace rota::master {
namespace {
constexpr std::string_view kDatabasePrefix = "database: ";  // an error of the store's names its place already
}  // namespace

HealthWords Master::servers_health() const {
  std::string database = database_ ? database_->health() : "not asked yet";
  if (database.starts_with(kDatabasePrefix)) database.erase(0, kDatabasePrefix.size());
  const std::string logs = services_ ? services_->logs_trouble() : "";
  return {{"office", office_state_.word()},
          {"database", database},
          {"zookeeper", zookeeper_word(zookeeper_findings())},
          {"logs", logs.empty() ? "ok" : logs},
          {"ticks", ticks_word(snapshot().get(), services_->tick_clock().wall())},
          {"invariants", invariants_word(snapshot().get())}};
}

ZookeeperFindings Master::zookeeper_findings() const {
  ZookeeperFindings findings;
  findings.is_connected = session_.is_connected();
  if (elector_) findings.ownerless = elector_->ownerless();
  std::shared_lock lock(term_mutex_);
  if (!term_) return findings;
  zk::MembershipTrouble workers = term_->workers_trouble();
  findings.awaited = std::move(workers.awaited);
  std::ranges::move(workers.ownerless, std::back_inserter(findings.ownerless));
  return findings;
}

/// The servers as they are now; the rest as the last self check found it, and what the others found.
HealthWords Master::health() const {
  HealthWords words = servers_health();
  if (!self_check_) return words;
  const auto is_fresh = [now = words](const std::string& part) {
    return std::ranges::any_of(now, [&](const auto& word) { return word.first == part; });
  };
  const SelfCheckReport last = self_check_->last();
  for (const auto& [part, word] : last.words) {
    if (!is_fresh(part)) words.emplace_back(part, word);
  }
  for (const api::MasterView& master : last.masters) {
    if (master.id != options_.id && !master.health.empty()) words.emplace_back(master.id, master.health);
  }
  return words;
}

}  // namespace rota::master
