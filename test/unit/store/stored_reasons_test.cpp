// By which words reasons are stored.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "master/store/mysql/replaced_rows.h"

using namespace rota;
using namespace rota::master::store;
using model::Reason;

TEST_CASE("stored reason: those that masters of before do not know have an older word, and come back") {
  const std::vector<std::pair<Reason, std::string>> newer = {
      {Reason::ReplacedBy, "4711"}, {Reason::RunTimeout, "timeout.run: 1h; attempt 2 was lost"},
      {Reason::QueueTimeout, "timeout.queue: 10m"},
      {Reason::NamespaceUnfinished, "max-unfinished: 5"}, {Reason::NamespaceFirings, "max-firings-per-minute: 5"}};
  for (const auto& [reason, detail] : newer) {
    CHECK(stored_name(reason) != name_of(reason));
    const auto word = model::reason_named(stored_name(reason));
    REQUIRE(word);
    CHECK(*word <= Reason::CaughtUp);
    CHECK(reason_in_row(*word, detail) == reason);
  }
}

TEST_CASE("stored reason: a timed out attempt and a cancelled run stay what they are") {
  CHECK(reason_in_row(Reason::AttemptTimeout, "") == Reason::AttemptTimeout);
  CHECK(reason_in_row(Reason::AttemptTimeout, "no time, timeout.run: 1h") == Reason::AttemptTimeout);
  CHECK(reason_in_row(Reason::ExitStatus, "timeout.run: 1h") == Reason::ExitStatus);
  CHECK(reason_in_row(Reason::CancelledByUser, "cancelled by ann") == Reason::CancelledByUser);
}

TEST_CASE("stored reason: a gap that a limit of its namespace left has an older word, and comes back") {
  for (const Reason reason : {Reason::NamespaceUnfinished, Reason::NamespaceFirings, Reason::QueueFull}) {
    model::Gap gap;
    gap.reason = reason;
    gap.reference = reason == Reason::QueueFull ? 4711 : 0;
    model::Gap read = gap;
    read.reason = *model::reason_named(stored_name(reason));
    read.reference = stored_reference(gap);
    CHECK(read.reason == Reason::QueueFull);
    restore_gap(read);
    CHECK(read.reason == gap.reason);
    CHECK(read.reference == gap.reference);
  }
}
