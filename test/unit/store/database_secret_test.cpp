#include "master/store/mysql/database_secret.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::master::store;

namespace {

struct File {
  std::string holds = "old";
  int reads = 0;
  DatabaseSecret secret{"old", [this]() -> Result<std::string> {
                          ++reads;
                          if (holds.empty()) return fail(ErrorCode::NotFound, "no such file");
                          return holds;
                        }};
};

}  // namespace

TEST_CASE("database secret: a refusal reads the file, and gives the other password it holds") {
  File file;
  CHECK(file.secret.password() == "old");
  CHECK(file.secret.instead_of("old").error().code == ErrorCode::NotFound);
  file.holds = "new";
  CHECK(file.secret.instead_of("old").value() == "new");
  CHECK(file.secret.password() == "new");
}

TEST_CASE("database secret: of many connections refused at once one reads the file") {
  File file;
  file.holds = "new";
  for (int i = 0; i < 5; ++i) CHECK(file.secret.instead_of("old").value() == "new");
  CHECK(file.reads == 1);
}

TEST_CASE("database secret: an unreadable file leaves the password unchanged, and the error says why") {
  File file;
  file.holds.clear();
  CHECK(file.secret.instead_of("old").error().message == "no such file");
  CHECK_FALSE(file.secret.read_again());
  CHECK(file.secret.password() == "old");
}

TEST_CASE("database secret: a new read says whether the password changed") {
  File file;
  CHECK_FALSE(file.secret.read_again().value());
  file.holds = "new";
  CHECK(file.secret.read_again().value());
}
