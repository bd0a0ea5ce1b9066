// What is said about one moment of a job.
#include <doctest/doctest.h>

#include "master/api/tick_words.h"

using namespace rota;
using namespace rota::master::api;
using model::Reason;

namespace {

TickFacts a_tick() {
  TickFacts facts;
  facts.at = wall_from_ms(1'700'000'000'000);
  facts.now = facts.at + Millis{60'000};
  facts.is_planned = facts.is_recorded = true;
  return facts;
}

model::Freeze a_freeze() {
  model::Freeze freeze;
  freeze.id = 9;
  freeze.from = a_tick().at - Millis{1000};
  freeze.until = a_tick().at + Millis{3'600'000};
  freeze.principal = "ann";
  freeze.why = "release";
  return freeze;
}

}  // namespace

TEST_CASE("tick words: what fired names its run, and how late it was") {
  TickFacts facts = a_tick();
  facts.run.emplace();
  facts.run->id = RunId{5};
  facts.run->recorded = facts.at + Millis{90'000};
  facts.run->progress.state = model::RunState::Succeeded;
  CHECK(words_for(facts).what == "fired");
  CHECK(words_for(facts).sentence == "It fired as run 5, which is succeeded; it was 1m30s late.");
}

TEST_CASE("tick words: what did not fire says why") {
  TickFacts facts = a_tick();
  facts.gap = model::Gap{};
  facts.gap->reason = Reason::CoalescedInto;
  facts.gap->reference = 7;
  facts.gap->count = 3;
  CHECK(words_for(facts).what == "skipped");
  CHECK(words_for(facts).sentence == "It did not fire (coalesced_into): It was late, and one run stands for all "
                                     "late ticks. (run 7) The same holds for 3 ticks in all.");
  facts.gap->reason = Reason::OverlapSkipped;
  facts.skipped_behind = 2;
  CHECK(words_for(facts).sentence.find("stuck") == std::string::npos);
  facts.skipped_behind = 3;
  CHECK(words_for(facts).sentence.find("The job is stuck: 3 ticks were skipped behind that run, which has not "
                                       "ended.") != std::string::npos);
  facts.gap->reason = Reason::Frozen;
  facts.gap->reference = 9;
  facts.freeze = a_freeze();
  CHECK(words_for(facts).what == "frozen");
  CHECK(words_for(facts).sentence == "It did not fire: freeze 9 by ann, until 2023-11-14T23:13:20.000Z: release. "
                                     "One run stands for all frozen ticks when it ends.");
  facts.made_up = RunId{11};
  CHECK(words_for(facts).sentence.find("Run 11 stands for it.") != std::string::npos);
}

TEST_CASE("tick words: what is to come") {
  TickFacts facts = a_tick();
  facts.is_recorded = false;
  CHECK(words_for(facts).what == "due");
  facts.now = facts.at - Millis{1000};
  CHECK(words_for(facts).what == "planned");
  facts.freeze = a_freeze();
  CHECK(words_for(facts).what == "frozen");
  facts.is_planned = false;
  facts.next = facts.at + Millis{1000};
  CHECK(words_for(facts).what == "not_planned");
  CHECK(words_for(facts).sentence == "No tick is planned at this moment. The next tick is at 2023-11-14T22:13:21.000Z.");
  facts.state = model::JobState::Paused;
  facts.state_by = "bob";
  CHECK(words_for(facts).sentence.find("the job is paused by bob") != std::string::npos);
}

TEST_CASE("tick words: a planned tick of which nothing is stored is no tick that fired") {
  TickFacts facts = a_tick();
  CHECK(words_for(facts).what == "not_known");
  facts.is_known = false;
  CHECK(words_for(facts).sentence.find("deleted") != std::string::npos);
}
