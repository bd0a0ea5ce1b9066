// A loop whose large batches are stored beside it; the test says when.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <thread>

#include "builders.h"
#include "master/loop/loop.h"

namespace rota::test {

using namespace rota::master;
using namespace rota::master::loop;
using store::ApplyOutcome;
using store::ApplyResult;

/// Counts what the loop's own thread stores.
class OwnStore final : public store::Store {
 public:
  ApplyResult apply(Epoch, const core::Changes& changes) override {
    tried.push_back(changes);
    return outcomes.empty() ? ApplyResult{ApplyOutcome::Applied, "", {}} : next();
  }
  void tell_progress(std::function<void()> told) override { progress = std::move(told); }
  std::function<void()> progress;
  std::vector<core::Changes> tried;
  std::vector<ApplyOutcome> outcomes;

 private:
  ApplyResult next() {
    const ApplyOutcome outcome = outcomes.front();
    outcomes.erase(outcomes.begin());
    return {outcome, "as told", Epoch{9}};
  }
};

/// The result comes when the test says so.
class HeldStoring final : public Storing {
 public:
  void begin(Epoch, const core::Changes& changes, std::unique_ptr<store::PreparedRows> rows) override {
    REQUIRE_FALSE(under_way);
    under_way = true;
    has_all_rows = false;
    begun.push_back(changes);
    begun_as_prepared.push_back(rows ? static_cast<const Prepared&>(*rows).of == &changes : false);
  }
  bool has_written() override { return has_all_rows; }
  std::unique_ptr<store::PreparedRows> prepare(const core::Changes& changes) override {
    prepared.push_back(changes);
    return std::make_unique<Prepared>(&changes);
  }
  /// The database has all rows; the COMMIT comes later.
  void written() { has_all_rows = true; }
  std::optional<ApplyResult> receive() override { return std::exchange(result_, std::nullopt); }
  void wait(Micros, std::stop_token) override {
    ++waits;
    if (const auto held = on_wait) return held();
    if (under_way) end(at_wait);
  }
  void end(ApplyResult result) {
    REQUIRE(under_way);
    under_way = false;
    result_ = std::move(result);
  }
  void stored() { end({ApplyOutcome::Applied, "", {}}); }

  struct Prepared final : store::PreparedRows {
    explicit Prepared(const core::Changes* changes) : of(changes) {}
    const core::Changes* of;
  };
  std::vector<core::Changes> begun, prepared;
  std::vector<bool> begun_as_prepared;  ///< with what was prepared for these very changes
  bool has_all_rows = false;
  ApplyResult at_wait{ApplyOutcome::Applied, "", {}};
  bool under_way = false;
  int waits = 0;
  std::function<void()> on_wait;       ///< instead of an end

 private:
  std::optional<ApplyResult> result_;
};

class KeptSender final : public dispatch::Sender {
 public:
  void send(Epoch, core::Send message) override { sent.push_back(std::move(message)); }
  std::vector<core::Send> sent;
};

struct BesideRig {
  FakeClock clock;
  OwnStore store;
  HeldStoring storing;
  KeptSender sender;
  Inbox inbox;
  std::map<Token, core::ReplyBody> replies;
  std::vector<model::SettingRow> settings;  ///< that others act on, in order
  std::size_t replies_before_settings = 99;
  std::map<Token, std::size_t> begun_at;  ///< so many had gone beside the loop when it was answered
  core::Scheduler scheduler{Epoch{7}, {}, {}, clock.now()};
  EventLoop loop{Epoch{7}, parts(), options()};

  LoopParts parts() {
    LoopParts parts{scheduler, store, sender,
                    [this](Token token, core::ReplyBody body) {
                      CHECK(replies.emplace(token, std::move(body)).second);
                      begun_at[token] = storing.begun.size();
                    },
                    clock, inbox};
    parts.storing = &storing;
    parts.settings = [this](const std::vector<model::SettingRow>& rows) {
      replies_before_settings = replies.size();
      settings.insert(settings.end(), rows.begin(), rows.end());
    };
    return parts;
  }
  static LoopOptions options() {
    LoopOptions options;
    options.beside_from = 3;  // a new job makes two rows
    options.events_per_turn = 10;
    return options;
  }
  void post(core::Event event) { REQUIRE(inbox.post(std::move(event))); }
  void apply_job(std::int64_t token) {
    post(core::ApplyJob{Token{token}, "t", a_job("j" + std::to_string(token)).build(), nullptr, {}});
  }
  /// Two jobs are being stored beside the loop: tokens 1 and 2.
  void begin_two() {
    apply_job(1);
    apply_job(2);
    CHECK_FALSE(loop.turn().ended);
    REQUIRE(storing.begun.size() == 1);
  }
  ErrorCode error(std::int64_t token) { return std::get<Error>(replies.at(Token{token})).code; }
};

}  // namespace rota::test
