#include "worker/desk/epoch_keeper.h"

#include <doctest/doctest.h>

#include <fstream>

#include "test/unit/worker/temporary_folder.h"

namespace rota::worker::desk {

TEST_CASE("epoch_keeper: only grows, per cluster, through restarts") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/epoch";
  {
    EpochKeeper keeper(path);
    REQUIRE(keeper.load());
    CHECK(keeper.raise("one", Epoch{5}).value() == Epoch{5});
    CHECK(keeper.raise("one", Epoch{3}).value() == Epoch{5});
    CHECK(keeper.raise("two", Epoch{1}).value() == Epoch{1});
  }
  EpochKeeper keeper(path);
  REQUIRE(keeper.load());
  CHECK(keeper.highest("one") == Epoch{5});
  CHECK(keeper.highest("two") == Epoch{1});
  CHECK(keeper.highest("three") == Epoch{0});
}

TEST_CASE("epoch_keeper: does not read a damaged file as an empty one") {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() + "/epoch") << "one x\n";
  EpochKeeper keeper(folder.path() + "/epoch");
  CHECK(keeper.load().error().code == ErrorCode::Corrupt);
}

TEST_CASE("epoch_keeper: an epoch that cannot be stored does not count") {
  EpochKeeper keeper("/nonexistent/folder/epoch");
  CHECK_FALSE(keeper.raise("one", Epoch{5}));
  CHECK(keeper.highest("one") == Epoch{0});
}

}  // namespace rota::worker::desk
