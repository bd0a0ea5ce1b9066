// What a hook of a pool gets, and that a call always ends.
#include <doctest/doctest.h>

#include <future>
#include <stdexcept>

#include "common/base/utf8.h"
#include "master/notify/hook_caller.h"
#include "test/support/patience.h"

using namespace rota;
using namespace rota::master::notify;

namespace {

model::ScaleChange told_change() {
  model::ScaleChange row;
  row.id = 7'696'581'394'433;
  row.pool = "etl";
  row.before = 3;
  row.after = 1;
  row.present = 1;
  row.leaving = 1;
  row.reason = model::ScaleReason::Drained;
  row.hook = "local";
  row.stoppable = {{"w\xff", "i1"}};
  row.made = wall_from_ms(1000);
  row.attempts = 2;
  return row;
}

class FixedRoute final : public DeliveryRoute {
 public:
  explicit FixedRoute(bool accepts) : accepts_(accepts) {}
  Result<std::string> deliver(const std::string&, Millis, std::stop_token) override {
    if (accepts_) return std::string("fine");
    return fail(ErrorCode::Unavailable, "status 503");
  }

 private:
  const bool accepts_;
};

std::string call_once(HookCaller& hooks, const model::ScaleChange& row) {
  std::promise<std::string> ended;
  hooks.call(row, [&](const std::string& error) { ended.set_value(error); });
  auto answer = ended.get_future();
  REQUIRE(answer.wait_for(testing::kPatience) == std::future_status::ready);
  return answer.get();
}

}  // namespace

TEST_CASE("hooks: the call is one JSON object of valid UTF-8, and names how many workers to keep") {
  const std::string text = message_of(told_change(), {"rota", "m1"});
  CHECK(is_utf8(text));
  CHECK(text ==
        "{\"sequence\":7696581394433,\"pool\":\"etl\",\"wanted\":1,\"before\":3,\"present\":1,\"leaving\":1,\"keep\":2,"
        "\"reason\":\"drained\",\"stoppable\":[{\"worker\":\"w\xEF\xBF\xBD\",\"incarnation\":\"i1\"}],\"cluster\":\"rota\","
        "\"master\":\"m1\",\"hook\":\"local\",\"made_at_ms\":1000,\"attempt\":3}");
}

TEST_CASE("hooks: each call ends with what the hook said, also where there is no such hook") {
  std::vector<Hook> all;
  all.push_back({"local", Millis{1000}, std::make_unique<FixedRoute>(true)});
  all.push_back({"broken", Millis{1000}, std::make_unique<FixedRoute>(false)});
  HookCaller hooks(std::move(all), {"rota", "m1"});
  CHECK(hooks.names() == std::vector<std::string>{"broken", "local"});
  model::ScaleChange row = told_change();
  CHECK(call_once(hooks, row).empty());
  row.hook = "broken";
  CHECK(call_once(hooks, row) == "status 503");
  row.hook = "nowhere";
  CHECK(call_once(hooks, row) == "this master's settings name no such hook");
  hooks.stop();
  hooks.stop();
}
