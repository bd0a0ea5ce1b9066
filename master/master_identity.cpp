// A master's part in knowing whose database it is: what it says of itself when it stands, and what it looks
// at while it leads.
#include <fmt/format.h>

#include <utility>

#include "common/base/log.h"
#include "master/master.h"

namespace rota::master {
namespace {

constexpr Millis kKeepZookeeperEvery{900};
constexpr Millis kBeatDatabaseEvery{5000};

}  // namespace

/// This ZooKeeper is not the database's. Said once, and again when it changes.
void Master::hold_off(const std::string& why) {
  office_state_.clear(Hurdle::Takeover);
  office_state_.report_passing(Hurdle::Cluster, why);
  if (std::exchange(held_off_, why) != why) log_error("term", "office is held off", {{"why", why}});
}

Candidate Master::candidate() {
  const model::Address own = own_address();
  Candidate self{options_.id, options_.grant, last_stored_, fmt::format("{}:{}", own.host, own.port)};
  self.may_lead = [this] { return in_force_.check(); };
  self.quiet = [this](const store::Office::Marks& seen) { return quiet_.look(seen, BootClock::now()); };
  return self;
}

/// What the leader knows of ZooKeeper, and what that is to know.
void Master::look_at_cluster(zk::Client& client, Epoch term, bool database_answers) {
  if (keeper_.epoch() != term) {
    std::shared_lock lock(term_mutex_);
    if (!term_) return;
    keeper_.begin(term_->epoch(), term_->cluster_uuid());
  }
  const MonoTime now = BootClock::now();
  // One that lost its data does not hold the ticks any more either: believed only when it is as it was left.
  const auto held = restored_ ? is_restore_held(client, paths_) : Result<bool>(false);
  const bool lets_go = restored_ && held && !*held;
  if (database_answers && session_.is_connected() && (lets_go || now - kept_at_ >= kKeepZookeeperEvery)) {
    kept_at_ = now;
    keep_zookeeper(client, lets_go);
  }
  if (database_answers && now - beat_at_ >= kBeatDatabaseEvery) {
    beat_at_ = now;
    need_contents(client, term);
    need_late_rows(client, term);
    need_worker_starts(client, term);
    need_child_runs(client, term);
    (void)services_->watch_office().beat(term);  // again in a while
  }
  note_progress(client);
}

/// Once in a Term: from when on definitions are stored by content.
void Master::need_contents(zk::Client& client, Epoch term) {
  if (contents_needed_for_ == term) return;
  if (!all_masters(client, paths_, &api::MasterView::knows_contents).value_or(false)) return;
  if (services_->watch_office().need_contents(term)) contents_needed_for_ = term;
}

/// Once in a Term: from when on freezes, and runs that wait to be caught up, are stored.
void Master::need_late_rows(zk::Client& client, Epoch term) {
  if (late_rows_needed_for_ == term) return;
  if (!all_masters(client, paths_, &api::MasterView::knows_late_rows).value_or(false)) return;
  if (!services_->watch_office().need_late_rows(term) || !post(core::LateRowsKnown{})) return;
  late_rows_needed_for_ = term;
}

/// Once in a Term: from when on jobs may have @worker_start.
void Master::need_worker_starts(zk::Client& client, Epoch term) {
  if (worker_starts_needed_for_ == term) return;
  if (!all_masters(client, paths_, &api::MasterView::knows_worker_starts).value_or(false)) return;
  if (!services_->watch_office().need_worker_starts(term) || !post(core::WorkerStartsKnown{})) return;
  worker_starts_needed_for_ = term;
}

/// Once in a Term: from when on jobs may name child jobs.
void Master::need_child_runs(zk::Client& client, Epoch term) {
  if (child_runs_needed_for_ == term) return;
  if (!all_masters(client, paths_, &api::MasterView::knows_child_runs).value_or(false)) return;
  if (!services_->watch_office().need_child_runs(term) || !post(core::ChildRunsKnown{})) return;
  child_runs_needed_for_ = term;
}

void Master::keep_zookeeper(zk::Client& client, bool lets_go) {
  const auto found = keeper_.look(client, paths_, services_->watch_office(), restored_);
  if (!found) return;
  switch (*found) {
    case ZookeeperFinding::Fine: break;
    case ZookeeperFinding::Repaired: (void)post(core::ZookeeperReplaced{keeper_.number()}); return;
    case ZookeeperFinding::WorkersGone: (void)post(core::UnseenGone{}); return;
    case ZookeeperFinding::Refused: return;
  }
  if (lets_go) restored_ = false;
}

}  // namespace rota::master
