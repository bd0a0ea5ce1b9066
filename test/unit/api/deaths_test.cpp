// A worker's death confirmed, and a deleted job brought back, at the door of the API.
#include "api_setup.h"

namespace rota::master::api::test {
namespace {

rpc::CallResult<thrift::DeathAnswer> confirm(TestMaster& master, const std::string& worker, bool dry_run = false) {
  return master.ask([&](auto& client) {
    thrift::DeathAnswer out;
    client.confirm_dead(out, {}, worker, "burnt", dry_run);
    return out;
  });
}

rpc::CallResult<thrift::JobEdited> undelete(TestMaster& master, const std::string& name) {
  return master.ask([&](auto& client) {
    thrift::JobEdited out;
    client.undelete_job(out, {}, "default", name);
    return out;
  });
}

}  // namespace

TEST_CASE("confirm-dead: what follows is told run by run") {
  store::MemoryStore memory;
  TestMaster master(memory);
  master.leader.script = [](const core::Event&) {
    core::DeathTaken taken;
    taken.changed = true;
    taken.runs.push_back({RunId{7}, "nightly", 2, true, false, Millis{1500}});
    return std::optional<core::ReplyBody>(taken);
  };
  const auto answer = confirm(master, "w1", true);
  REQUIRE(answer);
  CHECK(answer->changed);
  REQUIRE(answer->runs.size() == 1);
  CHECK(answer->runs[0].run == 7);
  CHECK(answer->runs[0].job_name == "nightly");
  CHECK(answer->runs[0].asks);
  CHECK_FALSE(answer->runs[0].begins_again);
  CHECK(answer->runs[0].after_ms == 1500);
  const auto posted = master.leader.posted_of<core::ConfirmDead>();
  REQUIRE(posted.size() == 1);
  CHECK(posted[0].only_tell);
  CHECK(posted[0].why == "burnt");
}

TEST_CASE("confirm-dead: a name that no worker ever had is not found") {
  store::MemoryStore memory;
  TestMaster master(memory);
  master.leader.script = [](const core::Event&) { return std::optional<core::ReplyBody>(core::DeathTaken{}); };
  const auto answer = confirm(master, "typo");
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::NotFound);
  CHECK(confirm(master, "").error().error.code == ErrorCode::InvalidArgument);
}

TEST_CASE("undelete: the loop gets the rows of the job that was deleted last") {
  store::MemoryStore memory;
  REQUIRE(memory.enter_office(Epoch{1}, "test"));
  core::Changes changes;
  model::Job& job = changes.jobs.emplace_back();
  job.id = JobId{5};
  job.name = "gone";
  job.version = 3;
  job.state = model::JobState::Deleted;
  job.changed = kNow;
  model::JobVersionRow& version = changes.versions.emplace_back();
  version.job = job.id;
  version.version = 3;
  version.enabled = false;
  auto definition = std::make_shared<model::JobDefinition>();
  definition->name = "gone";
  version.definition = definition;
  REQUIRE(memory.apply(Epoch{1}, changes).outcome == store::ApplyOutcome::Applied);
  TestMaster master(memory);
  master.leader.script = [](const core::Event&) {
    return std::optional<core::ReplyBody>(core::JobApplied{JobId{5}, 4, true});
  };
  const auto answer = undelete(master, "gone");
  REQUIRE(answer);
  CHECK(answer->version == 4);
  CHECK(answer->state == "paused");
  CHECK(answer->deleted_ms == to_ms(kNow));
  const auto posted = master.leader.posted_of<core::UndeleteJob>();
  REQUIRE(posted.size() == 1);
  CHECK(posted[0].job.id == JobId{5});
  CHECK(posted[0].version.definition->name == "gone");
  CHECK(undelete(master, "never").error().error.code == ErrorCode::NotFound);
}

}  // namespace rota::master::api::test
