#include "common/rpc/text_protocol.h"

#include <doctest/doctest.h>
#include <thrift/transport/TBufferTransports.h>

#include "ReportService.h"
#include "common/base/utf8.h"
#include "test/unit/rpc/echo_service.h"

namespace rota::rpc::test {
namespace {

using apache::thrift::protocol::TBinaryProtocol;
using apache::thrift::transport::TMemoryBuffer;

const std::string kBroken = "gr\xC3\xBC\xFFn";
const std::string kRepaired = "gr\xC3\xBC\xEF\xBF\xBDn";

/// What a strict reader of a request says of it; empty: it was taken.
template <typename Args>
std::string refusal_of(const char* method, const Args& args, Args& read) {
  const auto bytes = std::make_shared<TMemoryBuffer>();
  TBinaryProtocol plain(bytes);
  plain.writeMessageBegin(method, apache::thrift::protocol::T_CALL, 5);
  args.write(&plain);
  plain.writeMessageEnd();
  TextProtocol strict(bytes);
  std::string name;
  apache::thrift::protocol::TMessageType type{};
  std::int32_t sequence = 0;
  strict.getTransport();
  static_cast<apache::thrift::protocol::TProtocol&>(strict).readMessageBegin(name, type, sequence);
  read.read(&strict);
  try {
    strict.readMessageEnd();
  } catch (const TextRefused& refused) {
    CHECK(refused.method == method);
    CHECK(refused.sequence == 5);
    return refused.what();
  }
  return "";
}

/// A client that checks nothing, as any other program's may be.
struct PlainClient {
  explicit PlainClient(const Endpoint& to) : socket(std::make_shared<FramedSocket>(to)), client(std::make_shared<TBinaryProtocol>(socket)) {
    begin();
    socket->open();
  }
  void begin() { socket->begin_call(BootClock::now() + testing::kPatience); }
  std::shared_ptr<FramedSocket> socket;
  thrift::JobServiceClient client;
};

}  // namespace

TEST_CASE("text protocol: names the place of a broken text in a request") {
  thrift::JobService_apply_jobs_args args, read;
  args.edits.resize(3);
  SUBCASE("in a field") {
    args.edits[1].definition.name = kBroken;
    CHECK(refusal_of("apply_jobs", args, read) ==
          "edits[1].definition.name: byte 0xff at offset 4 is part of no character; texts are UTF-8");
    CHECK(read.edits[1].definition.name == kRepaired);  // nothing broken leaves the protocol
  }
  SUBCASE("under a key") {
    args.edits[2].definition.labels = {{"team", "a"}, {"we\nird", kBroken}};
    CHECK(refusal_of("apply_jobs", args, read).starts_with("edits[2].definition.labels.we\\x0aird: byte 0xff"));
  }
  SUBCASE("a key itself") {
    args.edits[0].definition.work.parameters = {{kBroken, "a"}};
    CHECK(refusal_of("apply_jobs", args, read).starts_with("edits[0].definition.work.parameters: byte 0xff"));
  }
  SUBCASE("in a list of texts") {
    args.edits[0].definition.work.argv = {"a", "b", kBroken, "\xC3"};
    CHECK(refusal_of("apply_jobs", args, read).starts_with("edits[0].definition.work.argv[2]: byte 0xff"));
  }
  SUBCASE("nowhere") {
    args.edits[0].definition.work.argv = {"gr\xC3\xBCn"};
    CHECK(refusal_of("apply_jobs", args, read) == "");
    CHECK(read.edits == args.edits);
  }
}

TEST_CASE("text protocol: repairs a worker's report, which would otherwise be sent forever; binary is free") {
  thrift::ReportService_report_args args, read;
  args.request.reports.resize(1);
  args.request.reports[0].__set_outcome({});
  args.request.reports[0].outcome.message = kBroken;
  args.request.reports[0].outcome.result = kBroken;
  const std::int64_t before = repaired_texts();
  CHECK(refusal_of("report", args, read) == "");
  CHECK(read.request.reports[0].outcome.message == kRepaired);
  CHECK(read.request.reports[0].outcome.result == kBroken);
  CHECK(repaired_texts() == before + 1);
}

TEST_CASE("text protocol: a server refuses a broken text, and the connection goes on") {
  EchoServer server;
  REQUIRE(server.started);
  PlainClient peer(server.endpoint());
  std::string out;
  try {
    peer.client.cancel_run(out, {}, 7, kBroken);
    FAIL("it was taken");
  } catch (const thrift::RotaError& error) {
    CHECK(error.kind == thrift::ErrorKind::INVALID_ARGUMENT);
    CHECK(error.message == "why: byte 0xff at offset 4 is part of no character; texts are UTF-8");
  }
  peer.begin();
  peer.client.cancel_run(out, {}, 7, "fine");
  CHECK(out == "7:fine");
}

TEST_CASE("text protocol: an answer is always valid, also for an unknown method") {
  EchoServer server;
  PlainClient peer(server.endpoint());
  std::string out;
  peer.client.cancel_run(out, {}, EchoHandler::kAnswersBroken, "");
  CHECK(out == kRepaired);
  peer.begin();
  const auto bytes = std::make_shared<TBinaryProtocol>(peer.socket);
  bytes->writeMessageBegin(kBroken, apache::thrift::protocol::T_CALL, 1);
  thrift::JobService_cancel_run_args().write(bytes.get());
  bytes->writeMessageEnd();
  peer.socket->flush();
  std::string name;
  apache::thrift::protocol::TMessageType type{};
  std::int32_t sequence = 0;
  bytes->readMessageBegin(name, type, sequence);
  CHECK(type == apache::thrift::protocol::T_EXCEPTION);
  apache::thrift::TApplicationException answer;
  answer.read(bytes.get());
  CHECK(is_utf8(name));
  CHECK(is_utf8(answer.what()));
}

TEST_CASE("text protocol: our own client refuses a broken text before it sends anything") {
  EchoServer server;
  EchoChannel channel(server.endpoint());
  const auto answer = echo(channel, kBroken);
  REQUIRE(!answer);
  CHECK(answer.error().error.code == ErrorCode::InvalidArgument);
  CHECK(answer.error().error.message.starts_with("why: byte 0xff at offset 4"));
  CHECK(echo(channel, "fine").value_or("") == "7:fine");
}

TEST_CASE("text places: every method of the IDL has its rule") {
  CHECK(broken_text_of("submit") == BrokenText::Refused);
  CHECK(broken_text_of("no such method") == BrokenText::Refused);
  for (const char* internal : {"report", "append_log", "renew", "hello", "dispatch", "cancel", "inventory", "drain"}) {
    CHECK(broken_text_of(internal) == BrokenText::Repaired);
  }
  CHECK(place_text("submit", {FieldNumber{2}, FieldNumber{77}, FieldNumber{1}}) == "item.field 77.field 1");
}

}  // namespace rota::rpc::test
