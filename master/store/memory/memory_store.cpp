#include "master/store/memory/memory_store.h"

#include <fmt/format.h>

#include "master/store/memory/memory_tables.h"

namespace rota::master::store {
namespace {

Result<std::shared_ptr<const model::ZoneRules>> always_utc(std::string_view) {
  static const auto utc = std::make_shared<const model::ZoneRules>();
  return utc;
}

}  // namespace

MemoryStore::MemoryStore(ZoneSource zones)
    : zones_(zones ? std::move(zones) : ZoneSource(always_utc)), tables_(std::make_unique<MemoryTables>()) {}
MemoryStore::MemoryStore(const MemoryTables& tables)
    : zones_(always_utc), tables_(std::make_unique<MemoryTables>(tables)) {}
MemoryStore::~MemoryStore() = default;

void MemoryStore::fail_next(ApplyOutcome outcome, bool applied) {
  const std::scoped_lock lock(mutex_);
  fault_ = Fault{outcome, applied};
}

void MemoryStore::set_down(bool down) {
  const std::scoped_lock lock(mutex_);
  down_ = down;
}

Result<void> MemoryStore::up() const {
  if (down_) return fail(ErrorCode::Unavailable, "the store is down");
  return {};
}

ApplyResult MemoryStore::apply(Epoch epoch, const core::Changes& changes) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return {ApplyOutcome::Failed, fine.error().message, {}, false};
  if (epoch != tables_->epoch) {
    return {ApplyOutcome::Fenced,
            fmt::format("the epoch in force is {}, not {}", tables_->epoch.value, epoch.value),
            tables_->epoch, false};
  }
  const auto fault = std::exchange(fault_, std::nullopt);
  if (fault && !fault->applied) return {fault->outcome, "as the test asked", {}, false};
  if (auto fine = check_changes(*tables_, changes); !fine) {
    return {ApplyOutcome::Failed, fine.error().message, {}, true};
  }
  put_changes(*tables_, changes);
  if (fault) return {fault->outcome, "as the test asked", {}, false};
  return {ApplyOutcome::Applied, "", {}, false};
}

// --- office -------------------------------------------------------------------------------------

Result<Office::Marks> MemoryStore::read_marks() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return Marks{tables_->epoch,  tables_->watermark, tables_->cluster_uuid, SystemClock().wall(),
               tables_->holder, tables_->zookeeper, tables_->beats, newest_setting_number(*tables_)};
}

Result<std::string> MemoryStore::settle_uuid(const std::string& proposed) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  if (tables_->cluster_uuid.empty()) tables_->cluster_uuid = proposed;
  return tables_->cluster_uuid;
}

Result<Millis> MemoryStore::settle_grant(Millis own) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  tables_->longest_grant = std::max(tables_->longest_grant, own);
  return tables_->longest_grant;
}

Result<void> MemoryStore::claim(const Claim& claim) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fine;
  return put_claim(*tables_, claim);
}

Result<void> MemoryStore::settle_zookeeper(Epoch epoch, const KnownZookeeper& zookeeper) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fine;
  if (tables_->epoch != epoch) {
    return fail(ErrorCode::Fenced, fmt::format("epoch {} is in force", tables_->epoch.value));
  }
  tables_->zookeeper = zookeeper;
  return {};
}

Result<void> MemoryStore::beat(Epoch epoch) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fine;
  if (tables_->epoch == epoch) ++tables_->beats;
  return {};
}

Result<std::int64_t> MemoryStore::count_held() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return held_in(*tables_);
}

Result<std::vector<model::Gap>> MemoryStore::gaps_beyond(WallTime moment) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return store::gaps_beyond(*tables_, moment);
}

Result<void> MemoryStore::rewind(const Rewind& rewind) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fine;
  return put_rewind(*tables_, rewind);
}

Result<void> MemoryStore::probe() {
  const std::scoped_lock lock(mutex_);
  return up();
}

}  // namespace rota::master::store
