// What a master says of itself and its servers.
#include <algorithm>
#include <iterator>

#include "master/core/time/hold_rules.h"
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

Result<void> Master::open_pages() {
  if (options_.http.port == 0) return {};
  http::ServerOptions wanted;
  wanted.host = options_.http.host;
  wanted.port = options_.http.port;
  page_rows_ = std::make_unique<PageRows>(services_->reader());
  page_rows_->start();
  pages_ = std::make_unique<http::Server>(wanted, [this](const http::Request& request) {
    PageFacts facts;
    facts.id = options_.id;
    facts.host = options_.advertise.host;
    facts.cluster = options_.cluster;
    facts.version = ROTA_VERSION;
    facts.leading = leading();
    facts.snapshot = snapshot();
    facts.figures = figures();
    facts.nodes = node_facts();
    facts.office = office_state_.view();
    facts.now = clock_.mono();
    if (facts.snapshot) facts.tick_hold = core::hold_text(*facts.snapshot, services_->tick_clock().wall());
    facts.check = self_check_->last_with(
        {{"office", office_state_.word()},
         {"ticks", facts.tick_hold.empty() ? "ok" : "held: " + facts.tick_hold}});
    facts.standstill = standstill();
    facts.log_refusals = services_->log_refusals();
    facts.stale_commands_refused = services_->dispatch_counters().refused_old_epoch;
    if (request.path == "/") facts.rows = page_rows_->last();
    return page_of(request, facts);
  });
  return pages_->start();
}

}  // namespace rota::master
