#include "master/core/tables/name_index.h"

#include <doctest/doctest.h>

#include <cstdint>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using rota::master::core::NameIndex;

namespace {

struct Named {
  struct Row {
    std::string name, own_space;
    const std::string& space() const { return own_space; }
  } row;
};

}  // namespace

TEST_CASE("name index: finds each name after any order of sets and erasures") {
  std::vector<std::unique_ptr<Named>> jobs;
  for (int i = 0; i < 400; ++i) {
    // Twice the same names, so that some take a name from others.
    jobs.push_back(std::make_unique<Named>(
        Named{{"job-" + std::to_string(i % 200 / 2), i % 2 == 0 ? "a" : "b"}}));
  }
  NameIndex<Named> index;
  CHECK(index.find("a", "job-0") == nullptr);
  std::map<std::pair<std::string, std::string>, Named*> model;
  std::uint64_t dice = 1;
  for (int step = 0; step < 20'000; ++step) {
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    Named& job = *jobs[(dice >> 33) % jobs.size()];
    const auto key = std::pair(job.row.own_space, job.row.name);
    if ((dice >> 20) % 5 < 3) {
      index.set(job);
      model[key] = &job;
    } else {
      index.erase(job);
      if (const auto at = model.find(key); at != model.end() && at->second == &job) model.erase(at);
    }
    if (step % 100 != 0) continue;
    REQUIRE(index.size() == model.size());
    for (const auto& each : jobs) {
      const auto at = model.find({each->row.own_space, each->row.name});
      REQUIRE(index.find(each->row.own_space, each->row.name) == (at == model.end() ? nullptr : at->second));
    }
  }
}

TEST_CASE("name index: the same name in another namespace is another one") {
  Named one{{"nightly", "a"}}, other{{"nightly", "b"}};
  NameIndex<Named> index;
  index.reserve(1000);
  index.set(one);
  CHECK(index.find("b", "nightly") == nullptr);
  index.set(other);
  CHECK(index.find("a", "nightly") == &one);
  CHECK(index.find("b", "nightly") == &other);
  CHECK(index.size() == 2);
}
