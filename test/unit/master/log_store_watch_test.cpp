#include "master/upkeep/log_store_watch.h"

#include <doctest/doctest.h>

namespace rota::master {

namespace {

struct OneAnswer final : store::LogStore {
  std::optional<Error>& trouble;
  explicit OneAnswer(std::optional<Error>& wanted) : trouble(wanted) {}
  Result<std::vector<std::int64_t>> append(const std::vector<store::LogChunk>&) override {
    if (trouble) return fail(*trouble);
    return std::vector<std::int64_t>{7};
  }
  Result<store::LogSlice> read(model::AttemptKey, store::LogStream, std::int64_t, std::int64_t) override {
    return store::LogSlice{};
  }
  Result<std::vector<store::StoredStream>> stored_of(const std::vector<RunId>&) override {
    return std::vector<store::StoredStream>{};
  }
  Result<std::vector<RunId>> runs_with_logs(RunId, std::int32_t) override { return std::vector<RunId>{}; }
  Result<std::vector<std::int64_t>> bytes_of(const std::vector<RunId>&) override {
    return std::vector<std::int64_t>{};
  }
  Result<bool> erase(const std::vector<RunId>&, std::int32_t) override { return false; }
};

struct SetClock final : Clock {
  MonoTime at{Micros{1'000'000}};
  WallTime wall() const override { return {}; }
  MonoTime mono() const override { return at; }
};

}  // namespace

TEST_CASE("log store watch: says why output is not taken, until it is taken or a minute has passed") {
  std::optional<Error> trouble;
  SetClock clock;
  LogStoreWatch watch(std::make_unique<OneAnswer>(trouble), clock);
  CHECK(watch.trouble().empty());
  trouble = Error(ErrorCode::Unavailable, "write /logs/7: Read-only file system");
  CHECK_FALSE(watch.append({}));
  CHECK(watch.trouble().ends_with("write /logs/7: Read-only file system"));
  trouble = Error(ErrorCode::Corrupt, "bytes and CRC disagree");
  CHECK_FALSE(watch.append({}));
  CHECK(watch.trouble().ends_with("Read-only file system"));
  trouble.reset();
  CHECK(watch.append({}).value() == std::vector<std::int64_t>{7});
  CHECK(watch.trouble().empty());
  trouble = Error(ErrorCode::Unavailable, "gone");
  CHECK_FALSE(watch.append({}));
  clock.at += Millis{60'001};
  CHECK(watch.trouble().empty());
}

}  // namespace rota::master
