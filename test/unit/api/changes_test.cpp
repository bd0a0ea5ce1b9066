#include <doctest/doctest.h>

#include <condition_variable>
#include <thread>

#include "api_setup.h"
#include "common/wire/content_hash.h"
#include "common/wire/job_wire.h"
#include "test/support/stall_meter.h"

namespace rota::master::api::test {
namespace {

/// A latch.
class Gate {
 public:
  void open() {
    {
      std::scoped_lock lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

thrift::JobEdit an_edit(const std::string& name) {
  thrift::JobEdit out;
  out.definition.name = name;
  out.definition.work.argv = {"/bin/true"};
  return out;
}

rpc::CallResult<std::vector<thrift::JobEdited>> apply(TestMaster& master,
                                                      const std::vector<thrift::JobEdit>& edits,
                                                      bool dry_run = false) {
  return master.ask([&](auto& client) {
    std::vector<thrift::JobEdited> out;
    client.apply_jobs(out, {}, edits, dry_run);
    return out;
  });
}

}  // namespace

TEST_CASE("submit: what a handler needs may be among the run's own parameters") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.script = submitted;
  thrift::SubmitItem item;
  item.definition.work.handler = "http";
  const auto without = master.submit(item);
  REQUIRE(!without);
  CHECK(without.error().error.message.find("parameters.url is missing") != std::string::npos);
  item.parameters = {{"url", "http://shop.example/close"}, {"method", "POST"}};
  CHECK(master.submit(item));
  item.parameters["url"] = "ftp://shop.example/";
  CHECK(!master.submit(item));
}

TEST_CASE("submit: goes into the loop, checked and named, and its run comes back") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.script = submitted;
  const auto answer = master.submit(an_item("key"));
  REQUIRE(answer);
  CHECK(answer->run == 100);
  CHECK_FALSE(answer->repeated);
  const auto events = master.leader.posted_of<core::SubmitRuns>();
  REQUIRE(events.size() == 1);
  const core::SubmitItem& item = events[0].items.at(0);
  CHECK(item.definition->name == "echo");
  CHECK((item.job.value & kOneOffBit) != 0);
  CHECK(item.request_key == "key");
  CHECK(item.request_hash.starts_with("1:"));
  CHECK(events[0].principal == "local");
}

TEST_CASE("submit: wrong input never reaches the loop") {
  Stored stored;
  TestMaster master(stored.memory);
  auto item = an_item();
  SUBCASE("nothing to run") { item.definition.work.argv.clear(); }
  SUBCASE("1 MB") { item.definition.work.argv.push_back(std::string(1u << 20, 'x')); }
  SUBCASE("a schedule") { item.definition.rules.schedule.kind = "cron"; }
  SUBCASE("unknown zone") { item.definition.rules.schedule.time_zone = "Mars/Olympus"; }
  SUBCASE("broken text in an unused field") { item.definition.rules.schedule.cron = "\xFF"; }
  SUBCASE("unknown word") { item.definition.rules.overlap = "maybe"; }
  SUBCASE("request key") { item.request_key = "a\nb"; }
  const auto answer = master.submit(item);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::InvalidArgument);
  CHECK(answer.error().error.message.size() > 20);
  CHECK(master.leader.posted.empty());
}

TEST_CASE("submit: a key of rota's own clients that is above all is not looked up, and the loop hears why") {
  auto run = a_run(77, model::RunState::Running);
  run.request_key = "auto-5";
  Stored stored({run});
  TestMaster master(stored.memory);
  master.leader.script = submitted;
  REQUIRE(master.submit(an_item("auto-6")));
  REQUIRE(master.submit(an_item("auto-4")));
  REQUIRE(master.submit(an_item("mine")));
  const auto events = master.leader.posted_of<core::SubmitRuns>();
  REQUIRE(events.size() == 3);
  REQUIRE(events[0].unused);
  CHECK(events[0].unused->term == Epoch{2});
  CHECK_FALSE(events[1].unused);
  CHECK_FALSE(events[2].unused);
}

TEST_CASE("submit: after the loop did not accept that, keys are looked up; not after it was only overloaded") {
  Stored stored;
  TestMaster master(stored.memory);
  ErrorCode refusal = ErrorCode::NotLeader;
  SUBCASE("not accepted") { refusal = ErrorCode::NotLeader; }
  SUBCASE("overloaded") { refusal = ErrorCode::Overloaded; }
  master.leader.script = [&](const core::Event&) { return core::ReplyBody(Error(refusal, "as told")); };
  REQUIRE_FALSE(master.submit(an_item("auto-6")));
  master.leader.script = submitted;
  REQUIRE(master.submit(an_item("auto-6")));
  const auto events = master.leader.posted_of<core::SubmitRuns>();
  REQUIRE(events.size() == 2);
  CHECK(events[0].unused.has_value());
  CHECK(events[1].unused.has_value() == (refusal == ErrorCode::Overloaded));
}

TEST_CASE("submit: a used key gives the same run, with other content a conflict") {
  auto run = a_run(77, model::RunState::Running);
  run.request_key = "key";
  model::JobDefinition definition = *wire::from_wire(an_item().definition);
  definition.name = "echo";
  run.request_hash = wire::submit_hash(definition, {});
  Stored stored({run});
  TestMaster master(stored.memory);
  const auto same = master.submit(an_item("key"));
  REQUIRE(same);
  CHECK(same->run == 77);
  CHECK(same->repeated);
  auto other = an_item("key");
  other.definition.work.argv.push_back("more");
  const auto conflict = master.submit(other);
  REQUIRE_FALSE(conflict);
  CHECK(conflict.error().error.code == ErrorCode::Conflict);
  CHECK(master.leader.posted.empty());
}

TEST_CASE("submit: a loop that does not answer leaves the outcome unknown, within the deadline") {
  Stored stored;
  TestMaster master(stored.memory);
  thrift::RequestHead head;
  head.__set_deadline_ms(80);
  const testing::StallMeter stalls;
  const auto began = BootClock::now();
  const auto answer = master.submit(an_item(), head);
  CHECK(stalls.fair_since(began) < std::chrono::seconds{3});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().answered);
  CHECK(answer.error().error.code == ErrorCode::UnknownOutcome);
}

TEST_CASE("submit: what the inbox refuses is surely not done") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.refusal = Error(ErrorCode::Overloaded, "the inbox is full");
  auto answer = master.submit(an_item());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::Overloaded);
  CHECK(answer.error().retry_after > Millis{0});
  master.leader.refusal = Error(ErrorCode::NotLeader, "the Term is over");
  answer = master.submit(an_item());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::NotLeader);
}

TEST_CASE("submit: without the database a key cannot be looked up, so nothing is done") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.script = submitted;
  stored.memory.set_down(true);
  const auto answer = master.submit(an_item("key"));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::Unavailable);
  CHECK(master.leader.posted.empty());
}

TEST_CASE("submit_many: each item has its own answer, in order") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.script = submitted;
  auto wrong = an_item();
  wrong.definition.work.argv.clear();
  const auto answer = master.ask([&](auto& client) {
    std::vector<thrift::SubmitResult> out;
    client.submit_many(out, {}, {an_item(), wrong, an_item()});
    return out;
  });
  REQUIRE(answer);
  REQUIRE(answer->size() == 3);
  CHECK((*answer)[0].run == 100);
  CHECK((*answer)[1].error.kind == thrift::ErrorKind::INVALID_ARGUMENT);
  CHECK((*answer)[2].run == 101);
  CHECK(master.leader.posted_of<core::SubmitRuns>().at(0).items.size() == 2);
}

TEST_CASE("submit_many: a thousand go, more do not") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.script = submitted;
  const auto many = [&](std::size_t count) {
    return master.ask([&](auto& client) {
      std::vector<thrift::SubmitResult> out;
      client.submit_many(out, {}, std::vector<thrift::SubmitItem>(count, an_item()));
      return out;
    });
  };
  const auto good = many(1000);
  REQUIRE(good);
  CHECK(good->back().run == 1099);
  CHECK_FALSE(many(1001));
}

TEST_CASE("apply_jobs: all edits are in the loop before the first answer is waited for") {
  Stored stored;
  TestMaster master(stored.memory);
  std::vector<Token> tokens;
  master.leader.script = [&](const core::Event& event) -> std::optional<core::ReplyBody> {
    tokens.push_back(std::get<core::ApplyJob>(event).token);
    if (tokens.size() < 3) return std::nullopt;
    master.leader.replies->reply(tokens[0], core::JobApplied{JobId{10}, 1, true});
    master.leader.replies->reply(tokens[1], core::JobApplied{JobId{11}, 4, true});
    return core::JobApplied{JobId{12}, 2, false};
  };
  auto wrong = an_edit("d");
  wrong.definition.rules.schedule.kind = "cron";
  wrong.definition.rules.schedule.cron = "61 * * * *";
  wrong.definition.rules.schedule.time_zone = "Mars/Olympus";
  const auto answer = apply(master, {an_edit("a"), an_edit("b"), wrong, an_edit("c")});
  REQUIRE(answer);
  REQUIRE(answer->size() == 4);
  CHECK((*answer)[0].what == "created");
  CHECK((*answer)[1].what == "changed");
  CHECK((*answer)[1].version == 4);
  CHECK((*answer)[3].what == "unchanged");
  const std::string& why = (*answer)[2].error.message;
  CHECK((*answer)[2].error.kind == thrift::ErrorKind::INVALID_ARGUMENT);
  CHECK(why.find("cron") != std::string::npos);
  CHECK(why.find("Mars/Olympus") != std::string::npos);
}

TEST_CASE("apply_jobs: a dry run tells what would change and posts nothing") {
  Stored stored;
  TestMaster master(stored.memory);
  auto same = an_edit("nightly");
  same.definition.rules.schedule.kind = "fixed_rate";
  same.definition.rules.schedule.interval_ms = 60'000;
  auto changed = same;
  changed.definition.owner = "me";
  auto stale = changed;
  stale.__set_expected_version(0);
  const auto answer = apply(master, {same, changed, an_edit("new"), stale}, true);
  REQUIRE(answer);
  CHECK((*answer)[0].what == "unchanged");
  CHECK((*answer)[1].what == "changed");
  CHECK((*answer)[1].version == 2);
  CHECK((*answer)[2].what == "created");
  CHECK((*answer)[3].error.kind == thrift::ErrorKind::CONFLICT);
  CHECK(master.leader.posted.empty());
}

TEST_CASE("run_now, set_paused, delete_job: their events and answers") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.script = submitted;
  const auto run = master.ask([](auto& client) {
    thrift::SubmitResult out;
    client.run_now(out, {}, "default", "nightly", {{"k", "v"}}, "key");
    return out;
  });
  REQUIRE(run);
  CHECK(run->run == 200);
  CHECK(master.leader.posted_of<core::RunNow>().at(0).parameters->at("k") == "v");
  master.leader.script = [](const core::Event&) { return core::JobApplied{JobId{1}, 2, true}; };
  const auto paused = master.ask([](auto& client) {
    thrift::JobEdited out;
    client.set_paused(out, {}, "default", "nightly", true, "holiday");
    return out;
  });
  REQUIRE(paused);
  CHECK(paused->what == "changed");
  CHECK(master.leader.posted_of<core::SetPaused>().at(0).why == "holiday");
  master.leader.script = [](const core::Event&) {
    return Error(ErrorCode::NotFound, "no such job");
  };
  const auto deleted = master.ask([](auto& client) {
    thrift::JobEdited out;
    client.delete_job(out, {}, "default", "none", "");
    return out;
  });
  REQUIRE_FALSE(deleted);
  CHECK(deleted.error().error.code == ErrorCode::NotFound);
}

TEST_CASE("cancel_run: a run that has ended is a conflict, an unknown one is not found") {
  Stored stored({a_run(5, model::RunState::Succeeded)});
  TestMaster master(stored.memory);
  const auto cancel = [&](std::int64_t run) {
    return master.ask([&](auto& client) {
      std::string out;
      client.cancel_run(out, {}, run, "why");
      return out;
    });
  };
  master.leader.script = [](const core::Event&) {
    return core::CancelTaken{model::RunState::Running};
  };
  CHECK(*cancel(7) == "running");
  // The loop does not know which: it forgets final runs.
  master.leader.script = [](const core::Event&) { return Error(ErrorCode::Conflict, "not known or ended"); };
  const auto ended = cancel(5);
  REQUIRE_FALSE(ended);
  CHECK(ended.error().error.code == ErrorCode::Conflict);
  CHECK(ended.error().error.message.find("succeeded") != std::string::npos);
  CHECK(cancel(6).error().error.code == ErrorCode::NotFound);
}

TEST_CASE("stop: ends the waits of those who ask") {
  Stored stored;
  auto master = std::make_unique<TestMaster>(stored.memory);
  Gate posted;
  master->leader.script = [&](const core::Event&) -> std::optional<core::ReplyBody> {
    posted.open();
    return std::nullopt;
  };
  std::optional<rpc::CallResult<thrift::SubmitResult>> answer;
  std::thread caller([&] { answer = master->submit(an_item()); });
  posted.wait();
  const testing::StallMeter stalls;
  const auto began = BootClock::now();
  master->server.stop();
  CHECK(stalls.fair_since(began) < std::chrono::seconds{2});
  caller.join();
  REQUIRE(answer);
  CHECK_FALSE(*answer);
}

}  // namespace rota::master::api::test
