// Ticks that did not fire, summed up by job, reason and the run that they refer to.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using model::Reason;

namespace {

model::Gap gap_of(std::int64_t job, std::int64_t from_s, std::int64_t to_s, std::int64_t ticks, Reason reason,
                  std::int64_t reference = 0) {
  model::Gap gap = a_gap(job, from_s, to_s);
  gap.count = ticks;
  gap.reason = reason;
  gap.reference = reference;
  return gap;
}

std::string in_words(const Result<std::vector<GapSum>>& sums) {
  REQUIRE(sums);
  std::string out;
  for (const GapSum& sum : *sums) {
    out += fmt::format("{} {} {} {} {}..{}; ", sum.job, model::name_of(sum.reason), sum.reference, sum.ticks,
                       to_ms(sum.from), to_ms(sum.to));
  }
  return out;
}

std::string one(const std::string& job, Reason reason, std::int64_t reference, std::int64_t ticks,
                const model::Gap& first, const model::Gap& last) {
  return fmt::format("{} {} {} {} {}..{}; ", job, model::name_of(reason), reference, ticks, to_ms(first.from),
                     to_ms(last.to));
}

}  // namespace

TEST_CASE("gap sums: by job and reason, the newest first, and by run where asked") {
  ON_EACH_STORE(on, led_backends()) {
    for (const std::int64_t job : {10, 11}) {
      REQUIRE(on.store->apply(Epoch{1}, new_job(job, job == 10 ? "ten" : "eleven")).outcome ==
              ApplyOutcome::Applied);
    }
    const model::Gap a = gap_of(10, 1, 2, 2, Reason::OverlapSkipped, 5);
    const model::Gap b = gap_of(10, 3, 4, 3, Reason::OverlapSkipped, 6);
    const model::Gap c = gap_of(10, 5, 6, 4, Reason::OverlapSkipped, 6);
    const model::Gap d = gap_of(11, 7, 8, 1, Reason::LateSkipped);
    core::Changes changes;
    changes.gaps = {a, b, c, d};
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    GapQuery query;
    query.reasons = {Reason::OverlapSkipped, Reason::LateSkipped};
    CHECK(in_words(on.reader->sum_gaps(query)) ==
          one("eleven", Reason::LateSkipped, 0, 1, d, d) + one("ten", Reason::OverlapSkipped, 0, 9, a, c));
    query.by_reference = true;
    CHECK(in_words(on.reader->sum_gaps(query)) == one("eleven", Reason::LateSkipped, 0, 1, d, d) +
                                                      one("ten", Reason::OverlapSkipped, 6, 7, b, c) +
                                                      one("ten", Reason::OverlapSkipped, 5, 2, a, a));
    query.least_ticks = 3;
    CHECK(in_words(on.reader->sum_gaps(query)) == one("ten", Reason::OverlapSkipped, 6, 7, b, c));
    query.least_ticks = 1;
    query.since = c.to;
    CHECK(in_words(on.reader->sum_gaps(query)) == one("eleven", Reason::LateSkipped, 0, 1, d, d) +
                                                      one("ten", Reason::OverlapSkipped, 6, 4, c, c));
    query.limit = 1;
    CHECK(on.reader->sum_gaps(query)->size() == 1);
    query.space = "other";
    CHECK(on.reader->sum_gaps(query)->empty());
  }
}
