// The items of one submit: what they share is read once, and nothing else.
#include <doctest/doctest.h>

#include "common/wire/content_hash.h"
#include "common/wire/job_wire.h"
#include "master/api/definition_intake.h"

namespace rota::master::api {
namespace {

thrift::SubmitItem item_of(const std::string& handler, const std::string& key = "key") {
  thrift::SubmitItem item;
  item.definition.__set_name("one");
  item.definition.work.__set_handler(handler);
  item.__set_request_key(key);
  return item;
}

/// An item is accepted as it would be alone.
void check_as_alone(SubmitIntake& intake, const thrift::SubmitItem& item) {
  const auto together = intake.accept(item);
  const auto alone = accept_submit(item);
  REQUIRE(together.has_value() == alone.has_value());
  if (!alone) {
    CHECK(together.error().message == alone.error().message);
    return;
  }
  CHECK(together->job == alone->job);
  CHECK(*together->definition == *alone->definition);
  CHECK(together->request_key == alone->request_key);
  CHECK(together->request_hash == alone->request_hash);
  CHECK((together->parameters == nullptr) == (alone->parameters == nullptr));
  if (alone->parameters) CHECK(*together->parameters == *alone->parameters);
}

}  // namespace

TEST_CASE("submit intake: equal definitions are one object") {
  SubmitIntake intake;
  const thrift::SubmitItem first = item_of("noop", "a"), second = item_of("noop", "b");
  const auto a = intake.accept(first), b = intake.accept(second);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->definition == b->definition);
  CHECK(a->request_hash == b->request_hash);
  CHECK(b->request_key == "b");
}

TEST_CASE("submit intake: each item is accepted as it would be alone, whatever came before it") {
  thrift::SubmitItem wrong = item_of("noop");
  wrong.definition.rules.__set_overlap("sometimes");
  thrift::SubmitItem with_parameters = item_of("noop");
  with_parameters.__set_parameters({{"color", "red"}});
  thrift::SubmitItem with_others = item_of("noop");
  with_others.__set_parameters({{"color", "blue"}});
  thrift::SubmitItem bad_parameters = item_of("noop");
  bad_parameters.__set_parameters({{"", "red"}});
  thrift::SubmitItem without_key = item_of("noop", "");
  thrift::SubmitItem bad_key = item_of("noop", " x");
  thrift::SubmitItem scheduled = item_of("noop");
  scheduled.definition.rules.schedule.__set_kind("fixed_rate");
  thrift::SubmitItem nameless = item_of("noop");
  nameless.definition.__set_name("");
  const std::vector<thrift::SubmitItem> kinds{item_of("noop"), item_of("other"), wrong, with_parameters,
                                              with_others, bad_parameters, without_key, bad_key, scheduled,
                                              nameless};
  for (const thrift::SubmitItem& before : kinds) {
    for (const thrift::SubmitItem& after : kinds) {
      SubmitIntake intake;
      check_as_alone(intake, before);
      check_as_alone(intake, after);
      check_as_alone(intake, before);
    }
  }
}

}  // namespace rota::master::api
