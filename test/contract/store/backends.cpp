#include "test/contract/store/backends.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "master/store/logs/folder_log_store.h"
#include "master/store/memory/memory_store.h"
#include "master/store/mysql/mysql_history.h"
#include "master/store/mysql/mysql_nodes.h"
#include "master/store/logs/mysql_log_store.h"
#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_retention.h"
#include "master/store/mysql/mysql_store.h"
#include "master/store/mysql/schema.h"
#include "test/support/mariadb/patient_options.h"

namespace rota::master::store::testing {
namespace {

Result<std::shared_ptr<const model::ZoneRules>> small_world(std::string_view name) {
  if (name != "UTC") return fail(ErrorCode::InvalidArgument, "no zone " + std::string(name));
  return std::make_shared<const model::ZoneRules>();
}

Backend in_memory() {
  const auto store = std::make_shared<MemoryStore>(small_world);
  return {"memory", store, store, store, store, store, store, store};
}

MysqlOptions fresh_database() {
  const MysqlOptions options = rota::testing::patient_options();
  const auto upgraded = upgrade_schema(options);
  REQUIRE_MESSAGE(upgraded.has_value(), (upgraded ? "" : upgraded.error().message));
  return options;
}

Backend on_mysql() {
  const MysqlOptions options = fresh_database();
  return {"mysql", std::make_shared<MysqlStore>(options),
          std::make_shared<MysqlOffice>(options, small_world), std::make_shared<MysqlReader>(options),
          std::make_shared<MysqlLogStore>(options), std::make_shared<MysqlRetention>(options),
          std::make_shared<MysqlHistory>(options), std::make_shared<MysqlNodes>(options)};
}

/// Each batch is prepared first.
class Preparing final : public Store {
 public:
  explicit Preparing(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  ApplyResult apply(Epoch epoch, const core::Changes& changes) override {
    if (changes.empty()) return store_->apply(epoch, changes);
    const auto rows = store_->prepare(changes);
    return rows ? store_->apply_prepared(epoch, changes, *rows) : store_->apply(epoch, changes);
  }
  void tell_progress(std::function<void()> progress) override { store_->tell_progress(std::move(progress)); }

 private:
  const std::shared_ptr<Store> store_;
};

Backend on_mysql_prepared() {
  Backend backend = on_mysql();
  backend.name = "mysql, prepared";
  backend.store = std::make_shared<Preparing>(std::move(backend.store));
  return backend;
}

/// Several masters' faces of one store: each call goes through the next.
class SeveralMasters final : public LogStore {
 public:
  explicit SeveralMasters(std::vector<std::unique_ptr<LogStore>> masters, std::string folder = "")
      : masters_(std::move(masters)), folder_(std::move(folder)) {}
  ~SeveralMasters() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  Result<std::vector<std::int64_t>> append(const std::vector<LogChunk>& chunks) override {
    return next().append(chunks);
  }
  Result<LogSlice> read(model::AttemptKey attempt, LogStream stream, std::int64_t offset,
                        std::int64_t limit) override {
    return next().read(attempt, stream, offset, limit);
  }
  Result<std::vector<StoredStream>> stored_of(const std::vector<RunId>& runs) override {
    return next().stored_of(runs);
  }
  Result<std::vector<RunId>> runs_with_logs(RunId after, std::int32_t limit) override {
    return next().runs_with_logs(after, limit);
  }
  Result<std::vector<std::int64_t>> bytes_of(const std::vector<RunId>& runs) override {
    return next().bytes_of(runs);
  }
  Result<bool> erase(const std::vector<RunId>& runs, std::int32_t most) override {
    return next().erase(runs, most);
  }

 private:
  LogStore& next() { return *masters_[++turn_ % masters_.size()]; }

  const std::vector<std::unique_ptr<LogStore>> masters_;
  const std::string folder_;
  std::size_t turn_ = 0;
};

/// What a leader does after it took office, and in the minutes behind: what was to be made whole is so.
void settle(Office& office) {
  REQUIRE(office.recover());
  REQUIRE(office.need_contents(Epoch{1}));
  for (int i = 0; i < 10; ++i) REQUIRE(office.beat(Epoch{1}));
}

LogBackend logs_on_mysql() {
  const MysqlOptions options = fresh_database();
  std::vector<std::unique_ptr<LogStore>> masters;
  for (const bool compress : {true, true, false}) {
    masters.push_back(std::make_unique<MysqlLogStore>(options, PoolOptions{}, compress));
  }
  return {"mysql", std::make_shared<SeveralMasters>(std::move(masters)),
          std::make_shared<MysqlLogStore>(options)};
}

std::unique_ptr<LogStore> folder_master(const std::string& folder, const std::string& name) {
  FolderLogOptions options;
  options.folder = folder;
  options.writer = name;
  options.compress = name != "three";
  auto master = std::make_unique<FolderLogStore>(std::move(options));
  REQUIRE(master->prepare());
  return master;
}

LogBackend logs_in_folder() {
  char folder[] = "/tmp/rota-logs-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  std::vector<std::unique_ptr<LogStore>> masters;
  for (const char* name : {"one", "two", "three"}) masters.push_back(folder_master(folder, name));
  return {"folder", std::make_shared<SeveralMasters>(std::move(masters), folder),
          folder_master(folder, "other")};
}

}  // namespace

std::vector<LogBackend> fresh_log_backends() {
  const auto memory = std::make_shared<MemoryStore>();
  return {{"memory", memory, memory}, logs_on_mysql(), logs_in_folder()};
}

std::vector<Backend> fresh_backends() { return {in_memory(), on_mysql(), on_mysql_prepared()}; }

std::vector<Backend> led_backends() {
  auto backends = fresh_backends();
  for (const auto& backend : backends) {
    const auto taken = backend.office->enter_office(Epoch{1}, "test");
    REQUIRE_MESSAGE(taken.has_value(), (taken ? "" : taken.error().message));
    if (backend.name != "memory") settle(*backend.office);
  }
  return backends;
}

}  // namespace rota::master::store::testing
