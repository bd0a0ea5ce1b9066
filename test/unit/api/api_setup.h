// A master's port with a scripted leader behind it: what the loop would answer is a function of the
// event. The store is the one in memory.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "JobService.h"
#include "ReportService.h"
#include "common/rpc/channel.h"
#include "master/api/api_server.h"
#include "master/store/memory/memory_store.h"
#include "test/support/patience.h"

namespace rota::master::api::test {

/// Answers an event: no body means that the loop never does.
using Script = std::function<std::optional<core::ReplyBody>(const core::Event&)>;

class FakeLeader final : public LeaderPort {
 public:
  std::optional<Epoch> leading() const override {
    return leads ? std::optional(Epoch{2}) : std::nullopt;
  }
  Result<void> post(core::Event event) override {
    if (refusal) return fail(*refusal);
    Token token;
    std::visit(
        [&](const auto& one) {
          if constexpr (requires { one.token; }) token = one.token;
        },
        event);
    const auto body = script ? script(event) : std::nullopt;
    {
      std::scoped_lock lock(mutex);
      posted.push_back(std::move(event));
    }
    if (body) replies->reply(token, *body);
    return {};
  }
  std::optional<model::Address> leader() const override { return address; }
  std::string why_nobody_leads() const override { return why_nobody; }
  std::string database_silence() const override { return silence; }
  std::shared_ptr<const core::Snapshot> snapshot() const override { return view; }
  std::vector<MasterView> masters() const override {
    std::vector<MasterView> all = others;
    all.push_back({"m1", {"127.0.0.1", 1}, leads});
    return all;
  }
  std::optional<MasterFigures> figures() const override { return own_figures; }
  std::shared_ptr<const core::NodeFacts> node_facts() const override { return facts; }
  std::vector<std::pair<std::string, std::string>> health() const override {
    return {{"database", "ok"}};
  }

  template <typename Event>
  std::vector<Event> posted_of() {
    std::scoped_lock lock(mutex);
    std::vector<Event> out;
    for (const auto& event : posted) {
      if (const auto* one = std::get_if<Event>(&event)) out.push_back(*one);
    }
    return out;
  }

  bool leads = true;
  std::vector<MasterView> others;
  std::optional<MasterFigures> own_figures;
  std::shared_ptr<const core::NodeFacts> facts;
  std::optional<Error> refusal;
  std::optional<model::Address> address;
  std::string why_nobody, silence;
  std::shared_ptr<const core::Snapshot> view;
  Script script;
  ReplySink* replies = nullptr;
  std::mutex mutex;
  std::vector<core::Event> posted;
};

/// One master and a client's connections to it.
struct TestMaster {
  explicit TestMaster(store::MemoryStore& memory, bool leads = true)
      : server(ApiParts{leader, memory, memory, clock, [] { return std::string("uuid"); }},
               options()) {
    leader.leads = leads;
    leader.replies = &server.replies();
    REQUIRE(server.start());
    jobs = std::make_unique<rpc::Channel<thrift::JobServiceClient>>(endpoint());
    reports = std::make_unique<rpc::Channel<thrift::ReportServiceClient>>(endpoint());
  }
  static ApiOptions options() {
    ApiOptions out;
    out.threads = 8;
    out.master_id = "m1";
    out.cluster = "test";
    return out;
  }
  rpc::Endpoint endpoint() const { return {"127.0.0.1", server.port()}; }

  template <typename Use>
  auto ask(Use use, Millis timeout = testing::kPatience) {
    return jobs->call(use, timeout);
  }
  template <typename Use>
  auto tell(Use use, Millis timeout = testing::kPatience) {
    return reports->call(use, timeout);
  }
  rpc::CallResult<thrift::SubmitResult> submit(const thrift::SubmitItem& item,
                                               const thrift::RequestHead& head = {}) {
    return ask([&](auto& client) {
      thrift::SubmitResult out;
      client.submit(out, head, item);
      return out;
    });
  }

  FakeClock clock;
  FakeLeader leader;
  ApiServer server;
  std::unique_ptr<rpc::Channel<thrift::JobServiceClient>> jobs;
  std::unique_ptr<rpc::Channel<thrift::ReportServiceClient>> reports;
};

inline thrift::SubmitItem an_item(const std::string& key = "") {
  thrift::SubmitItem out;
  out.definition.work.argv = {"/bin/echo", "hi"};
  out.request_key = key;
  return out;
}

/// The loop's answer to submits: runs from 100 on.
inline std::optional<core::ReplyBody> submitted(const core::Event& event) {
  core::Submitted out;
  if (const auto* runs = std::get_if<core::SubmitRuns>(&event)) {
    for (std::size_t i = 0; i < runs->items.size(); ++i) {
      out.items.push_back({RunId{100 + static_cast<std::int64_t>(i)}, false, std::nullopt});
    }
    return out;
  }
  if (std::holds_alternative<core::RunNow>(event)) {
    out.items.push_back({RunId{200}, false, std::nullopt});
    return out;
  }
  return std::nullopt;
}

inline const WallTime kNow = wall_from_ms(1'700'000'000'000);  // where a FakeClock begins

inline model::Run a_run(std::int64_t id, model::RunState state) {
  model::Run out;
  out.id = RunId{id};
  out.principal = "local";
  out.job = JobId{1};
  out.version = 1;
  out.kind = model::RunKind::Manual;
  out.scheduled = out.recorded = kNow - std::chrono::minutes{1};
  out.progress.state = state;
  out.progress.epoch = Epoch{1};
  if (model::is_final(state)) {
    out.progress.attempt = 1;
    out.progress.started = out.progress.dispatched = out.recorded;
    out.progress.ended = kNow - std::chrono::seconds{5};
    out.progress.outcome.state = state;
    out.progress.outcome.started = *out.progress.started;
    out.progress.outcome.ended = *out.progress.ended;
  }
  return out;
}

/// A store with job "nightly" and the given runs.
struct Stored {
  explicit Stored(std::vector<model::Run> runs = {}) {
    (void)memory.enter_office(Epoch{1}, "test");
    model::Job job;
    job.id = JobId{1};
    job.name = "nightly";
    job.version = 1;
    job.created = job.changed = kNow;
    auto definition = std::make_shared<model::JobDefinition>();
    definition->name = "nightly";
    definition->work.argv = {"/bin/true"};
    definition->rules.schedule.kind = model::ScheduleKind::FixedRate;
    definition->rules.schedule.interval = std::chrono::seconds{60};
    model::JobVersionRow version;
    version.job = job.id;
    version.version = 1;
    version.valid_from = version.anchor = kNow;
    version.definition = definition;
    core::Changes rows;
    rows.jobs.push_back(job);
    rows.versions.push_back(version);
    rows.new_runs = std::move(runs);
    put(rows);
  }
  void put(const core::Changes& rows) {
    REQUIRE(memory.apply(Epoch{1}, rows).outcome == store::ApplyOutcome::Applied);
  }

  store::MemoryStore memory;
  FakeClock clock;
};

}  // namespace rota::master::api::test
