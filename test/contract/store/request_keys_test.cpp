// What the stores tell about request keys that were used.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

TEST_CASE("request keys: the greatest key of rota's own clients is known, for each principal") {
  ON_EACH_STORE(on, led_backends()) {
    CHECK(*on.reader->greatest_own_key("local") == std::string());
    core::Changes changes = new_job(10, "a");
    const char* keys[] = {"auto-0a", "zebra", "auto-0c", "auto-0b", "auto.", "aut", "auto"};
    std::int64_t id = 100;
    for (const char* key : keys) {
      changes.new_runs.push_back(a_manual_run(id++, 10));
      changes.new_runs.back().request_key = key;
    }
    changes.new_runs.push_back(a_manual_run(id++, 10));
    changes.new_runs.push_back(a_manual_run(id, 10));
    changes.new_runs.back().request_key = "auto-ff";
    changes.new_runs.back().principal = "locals";
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    CHECK(*on.reader->greatest_own_key("local") == "auto-0c");
    CHECK(*on.reader->greatest_own_key("locals") == "auto-ff");
    CHECK(*on.reader->greatest_own_key("loca") == std::string());
    CHECK(*on.reader->greatest_own_key("localz") == std::string());
  }
}

TEST_CASE("request keys: the runs of many request keys are found by one question") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes = new_job(10, "a");
    std::vector<std::string> keys = {"unused"};
    for (int i = 0; i < 700; ++i) {
      changes.new_runs.push_back(a_manual_run(100 + i, 10));
      changes.new_runs.back().request_key = "key " + std::to_string(i);
      changes.new_runs.back().request_hash = "hash " + std::to_string(i);
      if (i % 2 == 0) keys.push_back(changes.new_runs.back().request_key);
    }
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const auto found = on.reader->runs_of_keys("local", keys);
    REQUIRE(found);
    CHECK(found->size() == 350);
    CHECK_FALSE(found->contains("unused"));
    REQUIRE(found->contains("key 698"));
    CHECK(found->at("key 698").run == RunId{798});
    CHECK(found->at("key 698").request_hash == "hash 698");
    CHECK(on.reader->runs_of_keys("somebody else", keys)->empty());
    CHECK(on.reader->runs_of_keys("local", {})->empty());
  }
}
