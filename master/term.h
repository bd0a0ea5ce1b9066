// One stretch of leadership: the core's state, its loop, its inbox and the watch over the workers. It is
// made after the epoch transaction and destroyed, never reset, when leadership goes. It leads one
// partition of the jobs; there is one today, and nothing but Master may assume so.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "common/zk/beat_watch.h"
#include "common/zk/paths.h"
#include "common/zk/session.h"
#include "master/cluster/worker_watch.h"
#include "master/loop/loop.h"
#include "master/office/takeover.h"

namespace rota::master {

/// What a Term works with; all outlive it.
struct TermParts {
  zk::Session& session;
  const zk::Paths& paths;
  store::Store& store;
  dispatch::Sender& sender;
  loop::ReplyTo reply;
  const Clock& clock;
  /// Effects::notifications. Unset: nobody is told (tests).
  std::function<void(const model::Notification&)> notify = {};
  /// Settings that are stored. Unset: nobody beside the core acts on them (tests).
  std::function<void(const std::vector<model::SettingRow>&)> settings = {};
  /// Effects::hook_calls. Unset: no hook is called (tests).
  std::function<void(const model::ScaleChange&)> call_hook = {};
};

struct TermOptions {
  core::CoreOptions core;
  loop::LoopOptions loop;
  loop::InboxLimits inbox;
};

/// Thread: run by Master's office thread; post, snapshot and counters from any.
class Term {
 public:
  Term(Office office, const TermParts& parts, const TermOptions& options);

  Epoch epoch() const { return epoch_; }
  const std::string& cluster_uuid() const { return cluster_uuid_; }
  Result<void> post(core::Event event) { return inbox_.post(std::move(event)); }
  void set_inbox_limits(const loop::InboxLimits& limits) { inbox_.set_limits(limits); }
  std::shared_ptr<const core::Snapshot> snapshot() const { return loop_.snapshot(); }
  const loop::LoopCounters& counters() const { return loop_.counters(); }
  /// What the database holds of this Term at least.
  StoredMark stored() const { return {epoch_, loop_.stored_watermark()}; }
  /// What is wrong with the workers' nodes.
  zk::MembershipTrouble workers_trouble() const { return watch_.trouble(); }

  /// Leads until the Term ends or stop is asked for.
  loop::TermEnd run(std::stop_token stop, const std::function<void(const char*)>& heartbeat) {
    return loop_.run(stop, heartbeat);
  }

 private:
  cluster::WorkerWatchCallbacks callbacks();
  void tell_end_of_beats(const std::string& node, MonoTime last_before);

  const Epoch epoch_;
  const std::string cluster_uuid_;
  loop::Inbox inbox_;
  core::Scheduler scheduler_;
  loop::StoringThread storing_;  ///< wakes the inbox
  loop::EventLoop loop_;
  cluster::WorkerWatch watch_;  ///< posts into the inbox
  zk::BeatWatch beats_;         ///< so does it
};

}  // namespace rota::master
