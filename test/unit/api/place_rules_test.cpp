// How many runs would start before one that waits.
#include <doctest/doctest.h>

#include "master/api/place_rules.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::api;

namespace {

const WallTime kPlayed = wall_from_ms(1'800'000'000'000);
const std::int64_t kMinute = 30'000'000;  // of kPlayed

core::LineView a_line_view(std::int64_t id, std::int64_t runs, std::int64_t priority, const char* space = "default",
                      const char* pool = "p") {
  core::LineView line;
  line.line = id;
  line.pool = pool;
  line.space = space;
  line.runs = runs;
  line.priority = priority;
  line.rank = kMinute - priority;
  line.last = id;
  line.head = RunId{id};
  return line;
}

core::LinesView lines_view(std::vector<core::LineView> lines, std::vector<core::SpaceTurnView> spaces) {
  core::LinesView view;
  view.lines = std::move(lines);
  view.spaces = std::move(spaces);
  return view;
}

std::int64_t place_in(const core::LinesView& view, std::int32_t line, std::int64_t before) {
  const auto place = place_of(view, {line, before}, kPlayed, 0);
  REQUIRE(place.has_value());
  CHECK_FALSE(place->is_least);
  return place->place;
}

}  // namespace

TEST_CASE("place: within one line the older runs are before it") {
  const auto view = lines_view({a_line_view(1, 5, 50)}, {{"default", 0, 1, 0, false}});
  CHECK(place_in(view, 0, 0) == 1);
  CHECK(place_in(view, 0, 4) == 5);
  CHECK(place_of(view, {0, 4}, kPlayed, 0)->waiting == 5);
  CHECK(place_of(view, {0, 4}, kPlayed, 9)->waiting == 9);
}

TEST_CASE("place: a higher priority is before all of a lower one, equal lines take turns") {
  auto view = lines_view({a_line_view(1, 3, 50), a_line_view(2, 2, 90)}, {{"default", 0, 1, 0, false}});
  CHECK(place_in(view, 1, 1) == 2);
  CHECK(place_in(view, 0, 0) == 3);
  view = lines_view({a_line_view(1, 3, 50), a_line_view(2, 2, 50)}, {{"default", 0, 1, 0, false}});
  CHECK(place_in(view, 0, 0) == 1);
  CHECK(place_in(view, 1, 0) == 2);
  CHECK(place_in(view, 0, 1) == 3);
  CHECK(place_in(view, 1, 1) == 4);
  CHECK(place_in(view, 0, 2) == 5);
}

TEST_CASE("place: namespaces share by weight, and one that is full has no turn") {
  auto view = lines_view({a_line_view(1, 9, 50, "a"), a_line_view(2, 9, 50, "b")},
                       {{"a", 0, 2, 0, false}, {"b", 0, 1, 0, false}});
  CHECK(place_in(view, 1, 2) == 7);  // a has two turns for each of b
  view.spaces[0].is_full = true;
  CHECK(place_in(view, 1, 2) == 3);
  CHECK(place_of(view, {0, 0}, kPlayed, 0).has_value());  // its own namespace counts all the same
}

TEST_CASE("place: other pools are not in its way") {
  const auto view = lines_view({a_line_view(1, 9, 90, "default", "q"), a_line_view(2, 1, 50)}, {{"default", 0, 1, 0, false}});
  CHECK(place_in(view, 1, 0) == 1);
  CHECK(place_of(view, {1, 0}, kPlayed, 0)->waiting == 1);
}

TEST_CASE("place: where more lines wait than are shown it is a least number; in no line there is none") {
  auto view = lines_view({a_line_view(1, 2, 50)}, {{"default", 0, 1, 0, false}});
  view.is_whole = false;
  CHECK(place_of(view, {0, 1}, kPlayed, 0)->is_least);
  CHECK_FALSE(place_of(view, {-1, 0}, kPlayed, 0).has_value());
  CHECK_FALSE(place_of(view, {7, 0}, kPlayed, 0).has_value());
}

TEST_CASE("place: words") {
  CHECK(place_words({"p", 1, 14, false, 50, 1}, "default") ==
        "1st of 14 in line for pool p (priority 50; namespace default has weight 1).");
  CHECK(place_words({"p", 12, 14, true, 50, 1}, "s").find("at least 12th of 14") == 0);
  CHECK(place_words({"p", 22, 30, false, 50, 1}, "s").find("22nd of 30") == 0);
  CHECK(place_words({"p", 113, 200, false, 50, 1}, "s").find("113th of 200") == 0);
}
