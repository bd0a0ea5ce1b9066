#include "worker/run/handler_facts.h"

#include <doctest/doctest.h>

namespace rota::worker::run {

namespace {

sdk::RunFacts full_facts() {
  sdk::RunFacts facts;
  facts.run = 9'000'000'000;
  facts.attempt = 3;
  facts.epoch = 12;
  facts.job = 5;
  facts.job_name = "näme with\nbreak";
  facts.space = "s";
  facts.kind = "tick";
  facts.tick = wall_from_ms(1'234);
  facts.scheduled = wall_from_ms(5'678);
  facts.worker = "w";
  facts.incarnation = "aa.bb";
  facts.parameters = {{"", "empty name"}, {"b", ""}, {"c d", std::string("\0\n=", 3)}};
  return facts;
}

}  // namespace

TEST_CASE("handler_facts: everything survives the file") {
  const sdk::RunFacts facts = full_facts();
  const auto brief = decode_brief(encode_brief({facts, {"a:1,b:2", "c", Millis{77}}}));
  REQUIRE(brief);
  const sdk::RunFacts* const back = &brief->facts;
  CHECK(brief->locks.servers == "a:1,b:2");
  CHECK(brief->locks.cluster == "c");
  CHECK(brief->locks.session_timeout == Millis{77});
  CHECK(back->run == facts.run);
  CHECK(back->attempt == facts.attempt);
  CHECK(back->epoch == facts.epoch);
  CHECK(back->job == facts.job);
  CHECK(back->job_name == facts.job_name);
  CHECK(back->space == facts.space);
  CHECK(back->kind == facts.kind);
  CHECK(back->tick == facts.tick);
  CHECK(back->scheduled == facts.scheduled);
  CHECK(back->worker == facts.worker);
  CHECK(back->incarnation == facts.incarnation);
  CHECK(back->parameters == facts.parameters);
}

TEST_CASE("handler_facts: a damaged file is refused, a newer one is read as far as it is known") {
  const std::string text = encode_brief({full_facts(), {}});
  CHECK_FALSE(decode_brief(""));
  CHECK_FALSE(decode_brief("rota-facts 1\n"));
  CHECK_FALSE(decode_brief("rota-facts 2\n" + text.substr(text.find('\n') + 1)));
  CHECK_FALSE(decode_brief(text.substr(0, text.size() - 1)));
  CHECK_FALSE(decode_brief(text + "attempt *\n"));
  CHECK_FALSE(decode_brief(text + "word\n"));
  const auto newer = decode_brief(text + "colour Ymx1ZQ==\n");
  REQUIRE(newer);
  CHECK(newer->facts.attempt == 3);
}

}  // namespace rota::worker::run
