// Every method learns who called it: of a client's own connection, and through a follower.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include "api_setup.h"
#include "common/rpc/peer_address.h"
#include "master/api/service_adapters.h"
#include "recorded_callers.h"

namespace rota::master::api::test {
namespace {

namespace thrift_transport = apache::thrift::transport;

/// Thrift's own adds to a null pointer before its first frame, which the sanitizer reports.
class FramedTransport : public thrift_transport::TFramedTransport {
 public:
  explicit FramedTransport(const std::shared_ptr<thrift_transport::TTransport>& below) : TFramedTransport(below) {
    setReadBuffer(&none_, 0);
  }

 private:
  std::uint8_t none_ = 0;
};

/// A client as any language's Thrift makes it, which knows its own end of the connection.
template <typename Client>
class PlainClient {
 public:
  explicit PlainClient(std::uint16_t port)
      : socket_(std::make_shared<thrift_transport::TSocket>("127.0.0.1", port)),
        client_(std::make_shared<apache::thrift::protocol::TBinaryProtocol>(
            std::make_shared<FramedTransport>(socket_))) {
    socket_->open();
  }
  Client* operator->() { return &client_; }
  std::string address() const {
    sockaddr_storage own{};
    socklen_t length = sizeof(own);
    REQUIRE(::getsockname(socket_->getSocketFD(), reinterpret_cast<sockaddr*>(&own), &length) == 0);
    return rpc::text_of(own);
  }

 private:
  std::shared_ptr<thrift_transport::TSocket> socket_;
  Client client_;
};

using JobClient = PlainClient<thrift::JobServiceClient>;
using ReportClient = PlainClient<thrift::ReportServiceClient>;

struct Leader {
  Leader() { REQUIRE(server.start()); }

  std::shared_ptr<RecordedCallers> seen = std::make_shared<RecordedCallers>();
  rpc::Server server{make_processors(seen, seen), {}};
};

/// A follower in front of it.
struct Passed : Leader {
  Passed() { follower.leader.address = model::Address{"127.0.0.1", server.port()}; }
  /// The leader saw the client's address, and the follower's beside it.
  void check(const std::string& method, const std::string& client) {
    CAPTURE(method);
    const Caller caller = seen->of(method);
    CHECK(caller.address == client);
    CHECK(caller.principal == "local");
    CHECK(caller.via.starts_with("127.0.0.1:"));
    CHECK(caller.via != client);
  }

  Stored stored{{a_run(5, model::RunState::Waiting)}};
  TestMaster follower{stored.memory, false};
};

thrift::RequestHead asks_to_forward() {
  thrift::RequestHead out;
  out.__set_forward(true);
  return out;
}

/// A head as a forwarding follower writes it, written by a client.
thrift::RequestHead forged(const std::string& principal, const std::string& address) {
  thrift::RequestHead out;
  out.__set_forwarded(true);
  thrift::ForwardedCaller caller;
  caller.__set_principal(principal);
  caller.__set_address(address);
  out.__set_caller(caller);
  return out;
}

}  // namespace

TEST_CASE("callers: two clients' addresses reach the handlers of both services") {
  Leader leader;
  JobClient one(leader.server.port());
  JobClient other(leader.server.port());
  REQUIRE(one.address() != other.address());
  thrift::SubmitResult result;
  one->submit(result, {}, {});
  CHECK(leader.seen->of("submit").address == one.address());
  other->submit(result, {}, {});
  CHECK(leader.seen->of("submit").address == other.address());
  thrift::JobInfo job;
  one->get_job(job, {}, "default", "x");
  CHECK(leader.seen->of("get_job").address == one.address());
  CHECK(leader.seen->of("get_job").via.empty());
  ReportClient worker(leader.server.port());
  std::vector<std::int64_t> ends;
  worker->append_log(ends, {});
  CHECK(leader.seen->of("append_log").address == worker.address());
}

TEST_CASE("callers: a change passed on by a follower comes from the follower's client") {
  Passed passed;
  JobClient client(passed.follower.server.port());
  thrift::SubmitResult run;
  std::vector<thrift::SubmitResult> runs;
  thrift::JobEdited job;
  std::vector<thrift::JobEdited> jobs;
  thrift::DrainAnswer drain;
  thrift::DeathAnswer death;
  std::string state;
  client->submit(run, asks_to_forward(), {});
  client->submit_many(runs, asks_to_forward(), {});
  client->run_now(run, asks_to_forward(), "default", "nightly", {}, "");
  client->cancel_run(state, asks_to_forward(), 5, "");
  client->apply_jobs(jobs, asks_to_forward(), {}, false);
  client->set_paused(job, asks_to_forward(), "default", "nightly", true, "");
  client->delete_job(job, asks_to_forward(), "default", "nightly", "");
  client->undelete_job(job, asks_to_forward(), "default", "nightly");
  std::vector<thrift::CalendarEdited> calendars;
  thrift::CalendarEdited calendar;
  client->apply_calendars(calendars, asks_to_forward(), {}, false);
  client->delete_calendar(calendar, asks_to_forward(), "default", "de", "");
  client->drain_worker(drain, asks_to_forward(), "w1", 0, "");
  client->resume_worker(drain, asks_to_forward(), "w1", "");
  client->forget_worker(asks_to_forward(), "w1");
  client->confirm_dead(death, asks_to_forward(), "w1", "", false);
  thrift::FreezeInfo freeze;
  client->begin_freeze(freeze, asks_to_forward(), "", 0, "");
  client->end_freeze(freeze, asks_to_forward(), "");
  std::string answer;
  client->test_receiver(answer, asks_to_forward(), "ops");
  thrift::SemaphoreEdited semaphore;
  client->set_semaphore(semaphore, asks_to_forward(), {});
  client->delete_semaphore(semaphore, asks_to_forward(), "default", "oracle");
  thrift::LimitsEdited limits;
  client->set_limits(limits, asks_to_forward(), {});
  thrift::SettingEdited setting;
  client->set_setting(setting, asks_to_forward(), {});
  for (const char* method :
       {"submit", "submit_many", "run_now", "cancel_run", "apply_jobs", "set_paused", "delete_job", "undelete_job",
        "apply_calendars", "delete_calendar",
        "drain_worker", "resume_worker", "forget_worker", "confirm_dead", "begin_freeze", "end_freeze",
        "set_limits",
        "set_setting",
        "set_semaphore", "delete_semaphore", "test_receiver"}) {
    passed.check(method, client.address());
  }
}

TEST_CASE("callers: a question of a follower's to the leader comes from the follower's client") {
  Passed passed;
  JobClient client(passed.follower.server.port());
  thrift::Explanation why;
  std::vector<thrift::WorkerInfo> workers;
  thrift::ClusterStatus status;
  client->explain(why, {}, 5);
  client->list_workers(workers, {});
  client->cluster_status(status, {});
  thrift::AttentionReport attention;
  client->attention(attention, {}, {});
  for (const char* method : {"explain", "list_workers", "cluster_status", "attention"}) passed.check(method, client.address());
}

TEST_CASE("callers: a report or renewal passed on by a follower comes from the worker") {
  Passed passed;
  ReportClient worker(passed.follower.server.port());
  std::vector<thrift::AttemptKey> stored;
  worker->report(stored, {});
  worker->renew({});
  for (const char* method : {"report", "renew"}) passed.check(method, worker.address());
}

TEST_CASE("callers: a follower believes no client's words about another caller") {
  Passed passed;
  JobClient client(passed.follower.server.port());
  thrift::RequestHead head = forged("local", "192.0.2.9:1");
  head.__set_forward(true);
  head.__set_forwarded(false);
  thrift::SubmitResult run;
  client->submit(run, head, {});
  passed.check("submit", client.address());
}

TEST_CASE("callers: a forged head makes nobody else of a client, nor hides where it is") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.script = submitted;
  REQUIRE(master.submit(an_item(), forged("admin", "192.0.2.9:1")));
  CHECK(master.leader.posted_of<core::SubmitRuns>().at(0).principal == "local");
  Leader leader;
  JobClient client(leader.server.port());
  thrift::SubmitResult run;
  client->submit(run, forged("admin", "192.0.2.9:1"), {});
  CHECK(leader.seen->of("submit").address == client.address());
  client->submit(run, forged("local", "192.0.2.9:1"), {});
  CHECK(leader.seen->of("submit").via == client.address());
}

TEST_CASE("callers: who lacks the right is refused before the service is asked") {
  auto seen = std::make_shared<RecordedCallers>();
  Caller reader = rpc::caller_of_connection("192.0.2.9:1");
  reader.roles = {Right::Read};
  const auto jobs = adapt(std::static_pointer_cast<JobService>(seen), rpc::Edge(reader));
  thrift::SubmitResult run;
  try {
    jobs->submit(run, {}, {});
    FAIL("it was let in");
  } catch (const thrift::RotaError& error) {
    CHECK(error.kind == thrift::ErrorKind::DENIED);
    CHECK(error.message == "submit: local lacks the right \"run\"");
  }
  CHECK(seen->of("submit").address.empty());
  thrift::JobInfo job;
  jobs->get_job(job, {}, "default", "x");
  CHECK(seen->of("get_job").address == "192.0.2.9:1");
}

}  // namespace rota::master::api::test
