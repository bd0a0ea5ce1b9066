// Limits of pools and namespaces: each version once, read back as it was, and what a new Term gets of them.
#include <doctest/doctest.h>

#include <algorithm>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using model::QuotaOf;

namespace {

model::QuotaRow some_quota(QuotaOf of, const std::string& name, std::int32_t version, std::int64_t slots) {
  return {of, name, version, {slots, 3, 100, model::kNoLimit, 0, {}, {}, {}}, wall_from_ms(kBase + version * 1000),
          (std::int64_t{1} << 40) + version, "local"};
}

void apply_quotas(const Backend& on, std::vector<model::QuotaRow> rows) {
  core::Changes changes;
  changes.quotas = std::move(rows);
  const auto result = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
}

std::vector<std::string> quota_words_of(const std::vector<model::QuotaRow>& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) {
    out.push_back(std::string(name_of(row.of)) + " " + row.name + " " + std::to_string(row.version) + ": " +
                  std::to_string(row.quota.slots));
  }
  return out;
}

using QuotaLines = std::vector<std::string>;

}  // namespace

TEST_CASE("quotas: a version comes back as it went in, also when its batch is repeated") {
  ON_EACH_STORE(on, led_backends()) {
    const auto row = some_quota(QuotaOf::Space, "shop", 1, 5);
    for (int i = 0; i < 3; ++i) apply_quotas(on, {row});
    const auto rows = on.reader->quota_versions(QuotaOf::Space, "shop");
    REQUIRE(rows);
    REQUIRE(rows->size() == 1);
    CHECK(rows->front() == row);
    CHECK(on.reader->quota_versions(QuotaOf::Pool, "shop")->empty());
  }
}

TEST_CASE("quotas: a gap that a limit left comes back with its reason") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    for (const auto reason : {model::Reason::NamespaceUnfinished, model::Reason::NamespaceFirings}) {
      const WallTime at = wall_from_ms(kBase + (reason == model::Reason::NamespaceFirings ? 1 : 0));
      changes.gaps.push_back({JobId{10}, 1, at, at, 1, reason, 0, Epoch{1}});
    }
    for (int i = 0; i < 2; ++i) REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const auto gaps = on.reader->gaps_of(JobId{10});
    REQUIRE(gaps);
    REQUIRE(gaps->size() == 2);
    CHECK((*gaps)[0].reason == model::Reason::NamespaceUnfinished);
    CHECK((*gaps)[0].reference == 0);
    CHECK((*gaps)[1].reason == model::Reason::NamespaceFirings);
  }
}

TEST_CASE("quotas: lists and a new Term have the newest version of each") {
  ON_EACH_STORE(on, led_backends()) {
    apply_quotas(on, {some_quota(QuotaOf::Pool, "etl", 1, 3), some_quota(QuotaOf::Space, "etl", 1, 9)});
    apply_quotas(on, {some_quota(QuotaOf::Pool, "etl", 2, -1), some_quota(QuotaOf::Pool, "batch", 1, 0)});
    CHECK(quota_words_of(*on.reader->list_quotas(QuotaOf::Pool, 100)) == QuotaLines{"pool batch 1: 0", "pool etl 2: -1"});
    CHECK(quota_words_of(*on.reader->list_quotas(QuotaOf::Pool, 1)) == QuotaLines{"pool batch 1: 0"});
    CHECK(quota_words_of(*on.reader->list_quotas(QuotaOf::Space, 100)) == QuotaLines{"namespace etl 1: 9"});
    CHECK(quota_words_of(*on.reader->quota_versions(QuotaOf::Pool, "etl")) == QuotaLines{"pool etl 1: 3", "pool etl 2: -1"});
    auto all = on.office->recover();
    REQUIRE(all);
    std::ranges::sort(all->quotas, {}, [](const auto& row) { return std::pair{row.of, row.name}; });
    CHECK(quota_words_of(all->quotas) == QuotaLines{"pool batch 1: 0", "pool etl 2: -1", "namespace etl 1: 9"});
  }
}

TEST_CASE("quotas: default times come back, and a new Term gets all versions of a namespace that had any") {
  ON_EACH_STORE(on, led_backends()) {
    auto first = some_quota(QuotaOf::Space, "shop", 1, 5);
    first.quota.timeout = Millis{7'200'000};
    first.quota.run_timeout = Millis{3};
    first.quota.queue_timeout = Millis{4};
    const auto second = some_quota(QuotaOf::Space, "shop", 2, 6);
    apply_quotas(on, {first, second, some_quota(QuotaOf::Space, "lab", 1, 1), some_quota(QuotaOf::Space, "lab", 2, 2)});
    const auto rows = on.reader->quota_versions(QuotaOf::Space, "shop");
    REQUIRE(rows);
    REQUIRE(rows->size() == 2);
    CHECK(rows->front() == first);
    CHECK(rows->back() == second);
    CHECK(quota_words_of(*on.reader->list_quotas(QuotaOf::Space, 100)) ==
          QuotaLines{"namespace lab 2: 2", "namespace shop 2: 6"});
    auto all = on.office->recover();
    REQUIRE(all);
    CHECK(quota_words_of(all->quotas) ==
          QuotaLines{"namespace lab 2: 2", "namespace shop 1: 5", "namespace shop 2: 6"});
  }
}
