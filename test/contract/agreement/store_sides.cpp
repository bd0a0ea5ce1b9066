#include "test/contract/agreement/store_sides.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <sstream>

#include "master/store/memory/memory_store.h"
#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_store.h"
#include "master/store/mysql/schema.h"
#include "test/support/mariadb/patient_options.h"
#include "test/support/patience.h"

namespace rota::agreement {

using master::store::testing::Backend;
using rota::testing::CuttingProxy;
using rota::testing::MariadbServer;
using StoreKind = StoreStep::Kind;

namespace {

constexpr int kLost = 1000;  // per mille
/// The packet "run this text" with the text COMMIT (and not SET … READ COMMITTED).
const std::string kCommitPacket = "\x03" "COMMIT";
const std::string kUuid = "0123456789abcdef";

Result<std::shared_ptr<const model::ZoneRules>> only_utc(std::string_view) {
  return std::make_shared<const model::ZoneRules>();
}

std::string settle(master::store::Office& office, const StoreStep& step) {
  if (step.kind == StoreKind::SettleUuid) return words_of("uuid", office.settle_uuid(kUuid));
  const auto longest = office.settle_grant(step.grant);
  return words_of("grant", longest) + std::to_string(longest.value_or(Millis{0}).count()) + "\n";
}

}  // namespace

// --- simulated

SimStoreSide::SimStoreSide() { REQUIRE(office_.enter_office(Epoch{1}, "test")); }

std::string SimStoreSide::play(const StoreStep& step, Loss& loss) {
  loss = Loss::None;
  has_gone_back_ = false;
  switch (step.kind) {
    case StoreKind::SettleGrant:
    case StoreKind::SettleUuid: return settle(office_, step);
    case StoreKind::BackUp: store_.back_up(); return "copied\n";
    case StoreKind::GoBack: has_gone_back_ = store_.go_back({}); return "the copy\n";
    case StoreKind::TakeOffice:
    case StoreKind::Apply: break;
  }
  const std::int64_t checks = marks_.of("fault_apply_failed");
  const std::int64_t before = marks_.of("fault_apply_unknown_not_applied") + marks_.of("takeover_unknown_not_applied");
  const std::int64_t after = marks_.of("fault_apply_unknown_applied") + marks_.of("takeover_unknown_applied");
  store_.faults.unknown_per_mille = step.answer_is_lost ? kLost : 0;
  const std::string words = step.kind == StoreKind::TakeOffice
                                ? words_of("office", office_.enter_office(step.epoch, "script"))
                                : words_of(store_.apply(step.epoch, step.changes));
  store_.faults.unknown_per_mille = 0;
  loss = loss_since(checks, before, after);
  return words;
}

Loss SimStoreSide::loss_since(std::int64_t checks, std::int64_t before, std::int64_t after) const {
  if (marks_.of("fault_apply_failed") != checks) return Loss::OfCheck;
  const auto now = [this](const char* a, const char* b) { return marks_.of(a) + marks_.of(b); };
  if (now("fault_apply_unknown_not_applied", "takeover_unknown_not_applied") != before) return Loss::BeforeCommit;
  return now("fault_apply_unknown_applied", "takeover_unknown_applied") != after ? Loss::AfterCommit : Loss::None;
}

std::string SimStoreSide::look(const StoreStep& step) {
  Backend faces;
  faces.reader = store_.as_memory_store();
  faces.office = std::shared_ptr<master::store::Office>(&office_, [](master::store::Office*) {});
  return agreement::look(faces, step);
}

void SimStoreSide::pass(Millis time) {
  const MonoTime end = clockwork_.now() + time;
  clockwork_.after(time, [] {});
  while (clockwork_.step(end)) {
  }
}

// --- real

RealStoreSide::RealStoreSide() {
  options_ = rota::testing::patient_options();
  const auto upgraded = master::store::upgrade_schema(options_);
  REQUIRE_MESSAGE(upgraded.has_value(), (upgraded ? "" : upgraded.error().message));
  proxy_ = std::make_unique<CuttingProxy>(options_.port);
  through_proxy_ = options_;
  through_proxy_.port = proxy_->port();
  faces_.office = std::make_shared<master::store::MysqlOffice>(through_proxy_, only_utc);
  faces_.reader = std::make_shared<master::store::MysqlReader>(options_);
  REQUIRE(faces_.office->enter_office(Epoch{1}, "test"));
}

master::store::Store& RealStoreSide::leader(Epoch epoch) {
  auto& leader = leaders_[epoch];
  if (!leader) leader = std::make_unique<master::store::MysqlStore>(through_proxy_);
  return *leader;
}

std::string RealStoreSide::play(const StoreStep& step, Loss loss) {
  switch (step.kind) {
    case StoreKind::SettleGrant:
    case StoreKind::SettleUuid: return settle(*faces_.office, step);
    case StoreKind::BackUp: back_up(); return "copied\n";
    case StoreKind::GoBack: return "the copy\n";
    case StoreKind::TakeOffice:
    case StoreKind::Apply: break;
  }
  lose(loss, step.epoch);
  if (step.kind == StoreKind::TakeOffice) return take_office(*faces_.office, step.epoch);
  return words_of(leader(step.epoch).apply(step.epoch, step.changes));
}

void RealStoreSide::lose(Loss loss, Epoch epoch) {
  if (loss == Loss::OfCheck) lose_connection(epoch);
  if (loss == Loss::BeforeCommit) proxy_->at(kCommitPacket, CuttingProxy::Deed::CutBefore);
  if (loss == Loss::AfterCommit) proxy_->at(kCommitPacket, CuttingProxy::Deed::CutAfter);
}

/// The leader finds its connection dead.
void RealStoreSide::lose_connection(Epoch epoch) {
  REQUIRE(leader(epoch).apply(epoch, {}).outcome == master::store::ApplyOutcome::Applied);
  const auto id = MariadbServer::shared().sql(
      fmt::format("SELECT connection_id FROM loop_connection WHERE epoch = {}", epoch.value), options_.database);
  REQUIRE(id);
  sql("KILL " + *id);
}

void RealStoreSide::sql(const std::string& text) const {
  const auto done = MariadbServer::shared().sql(text, options_.database);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
}

void RealStoreSide::back_up() {
  std::string text;
  if (copy_.empty()) {
    copy_ = MariadbServer::shared().fresh_database();
    std::istringstream names(MariadbServer::shared().sql("SHOW TABLES", options_.database).value());
    for (std::string name; names >> name;) {
      tables_.push_back(name);
      text += fmt::format("CREATE TABLE {0}.{1} LIKE {1};", copy_, name);
    }
  }
  for (const std::string& table : tables_) {
    text += fmt::format("DELETE FROM {0}.{1}; INSERT INTO {0}.{1} SELECT * FROM {1};", copy_, table);
  }
  sql("SET foreign_key_checks = 0;" + text);
}

/// Whether there was any. A connection that ends by itself may be gone before it is killed.
bool RealStoreSide::end_connections() const {
  auto& server = MariadbServer::shared();
  const auto asked = server.sql("SELECT id FROM information_schema.processlist WHERE db = '" + options_.database +
                                "' AND id <> CONNECTION_ID()");
  REQUIRE(asked);
  std::istringstream ids(*asked);
  for (std::string id; ids >> id;) (void)server.sql("KILL " + id);
  return !asked->empty();
}

void RealStoreSide::go_back() {
  std::string text;
  for (const std::string& table : tables_) {
    text += fmt::format("DELETE FROM {1}; INSERT INTO {1} SELECT * FROM {0}.{1};", copy_, table);
  }
  sql("SET foreign_key_checks = 0;" + text);
  REQUIRE(rota::testing::eventually([this] { return !end_connections(); }));
  for (auto& [epoch, leader] : leaders_) (void)leader->apply(epoch, {});  // finds its connection dead
  (void)faces_.reader->watermark();
  (void)faces_.office->probe();
}

}  // namespace rota::agreement
