#include "client/asked_masters.h"

#include <doctest/doctest.h>

using namespace rota;
using client::AskedMasters;

namespace {

rpc::CallError unanswered(ErrorCode code, const std::string& message) {
  rpc::CallError out;
  out.error = Error(code, message);
  return out;
}

rpc::CallError answered(ErrorCode code, const std::string& message, const std::string& leader = "") {
  rpc::CallError out = unanswered(code, message);
  out.leader = leader;
  out.answered = true;
  return out;
}

const rpc::CallError kRefusedA = unanswered(ErrorCode::Unavailable, "a:1 is not reachable: Connection refused");
const rpc::CallError kRefusedB = unanswered(ErrorCode::Unavailable, "b:2 is not reachable: Connection refused");
const rpc::CallError kSilentB = unanswered(
    ErrorCode::UnknownOutcome, "no answer from b:2 (deadline passed); it may or may not have been done");
const rpc::CallError kNoDatabase = answered(ErrorCode::Unavailable, "the database does not answer since noon");
constexpr Millis kTried{10'000};

}  // namespace

TEST_CASE("asked_masters: every unreachable master is named with its own error") {
  AskedMasters asked(true);
  asked.take("a:1", kRefusedA);
  asked.take("b:2", kRefusedB);
  asked.take("a:1", kRefusedA);
  CHECK(asked.last_word(kTried).message ==
        "a:1 is not reachable: Connection refused; b:2 is not reachable: Connection refused (tried for 10s; does "
        "a master run there? --masters or ROTA_MASTERS says where to look)");
}

TEST_CASE("asked_masters: the cause is a master's answer, with its address, whichever master was asked last") {
  AskedMasters asked(true);
  asked.take("a:1", kNoDatabase);
  asked.take("b:2", kRefusedB);
  const Error word = asked.last_word(kTried);
  CHECK(word.code == ErrorCode::Unavailable);
  CHECK(word.message == "the database does not answer since noon (said by a:1); b:2 is not reachable: "
                        "Connection refused");
}

TEST_CASE("asked_masters: an unreachable leader that others name is the cause") {
  AskedMasters asked(false);
  asked.take("a:1", answered(ErrorCode::NotLeader, "this master does not lead; ask b:2", "b:2"));
  asked.take("b:2", kRefusedB);
  CHECK(asked.last_word(kTried).message ==
        "a:1 says that b:2 leads; b:2 is not reachable: Connection refused");
}

TEST_CASE("asked_masters: a read never reports that it may have been done") {
  AskedMasters asked(true);
  asked.take("b:2", kSilentB);
  const Error word = asked.last_word(kTried);
  CHECK(word.code == ErrorCode::Unavailable);
  CHECK(word.message == "no answer from b:2 (deadline passed)");
}

TEST_CASE("asked_masters: a change that one try may have done stays uncertain, whatever came later") {
  AskedMasters asked(false);
  asked.take("b:2", kSilentB);
  CHECK(asked.last_word(kTried).message ==
        "no answer from b:2 (deadline passed); it may or may not have been done");
  asked.take("b:2", answered(ErrorCode::NotLeader, "no master leads"));
  const Error word = asked.last_word(kTried);
  CHECK(word.code == ErrorCode::UnknownOutcome);
  CHECK(word.message == "no master leads (said by b:2); a try before got no answer; it may or may not have been "
                        "done");
}
