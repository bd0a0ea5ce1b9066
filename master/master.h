// What lives as long as the process: the ZooKeeper session, the candidacy, the API server, the dispatch
// threads, the reader. Leadership comes and goes as a Term inside it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>

#include "common/base/heartbeat_file.h"
#include "common/config/options.h"
#include "common/http/server.h"
#include "common/time/zone_warm_up.h"
#include "common/zk/registration.h"
#include "common/zk/session.h"
#include "master/api/leader_port.h"
#include "master/upkeep/clock_acceptance.h"
#include "master/cluster/elector.h"
#include "master/upkeep/database_watch.h"
#include "master/upkeep/known_slices.h"
#include "master/notify/no_leader_rules.h"
#include "master/office/elector_in_force.h"
#include "master/office/office_state.h"
#include "master/office/office_watch.h"
#include "master/pages.h"
#include "master/upkeep/own_figures.h"
#include "master/upkeep/self_check.h"
#include "master/services.h"
#include "master/office/takeover_pacing.h"
#include "master/store/mysql/mysql_election.h"
#include "master/term.h"
#include "master/upkeep/tick_hold.h"
#include "master/upkeep/zookeeper_keeper.h"
#include "master/upkeep/zookeeper_words.h"

namespace rota::master {

/// Thread: construct, start, stop and destroy by main; LeaderPort from any.
class Master final : public api::LeaderPort, private cluster::ElectorObserver {
 public:
  Master(const config::MasterOptions& options, const std::string& database_password);
  ~Master() override;

  /// Opens the port and begins to take part. Unavailable: the port is taken.
  Result<void> start();
  /// Gives up office and candidacy, answers what is open, closes the session. Twice is fine.
  void stop();
  /// Reads the file of the database's password again; false: it holds the same one.
  Result<bool> read_password_again() { return services_->read_password_again(); }
  std::uint16_t port() const { return services_->port(); }
  std::uint16_t http_port() const { return pages_ ? pages_->port() : 0; }

  // api::LeaderPort
  std::optional<Epoch> leading() const override;
  Result<void> post(core::Event event) override;
  std::optional<model::Address> leader() const override;
  std::shared_ptr<const core::Snapshot> snapshot() const override;
  std::string why_nobody_leads() const override { return office_state_.why_nobody_leads(); }
  std::string database_silence() const override { return database_ ? database_->silence() : ""; }
  std::vector<api::MasterView> masters() const override;
  std::optional<api::MasterFigures> figures() const override { return own_figures_.last(); }
  std::shared_ptr<const core::NodeFacts> node_facts() const override {
    return leading() ? services_->node_facts() : nullptr;
  }
  std::vector<std::pair<std::string, std::string>> health() const override;

 private:
  // cluster::ElectorObserver
  void elected() override;
  void lost(std::string_view why) override;

  void hold_office(std::stop_token stop);
  bool wait_elected(std::stop_token stop, Millis at_most);
  void try_to_lead(std::stop_token stop);
  void go_on_after(const Error& failure, std::stop_token stop);
  void pause(std::stop_token stop, Millis for_so_long);
  void lead(Office office, std::stop_token stop);
  loop::TermEnd run_term(Office office, std::stop_token stop);
  void send_notification(const model::Notification& row);
  void call_hook(const model::ScaleChange& row);
  void after_term(const loop::TermEnd& end);
  void raise_alarm();
  void beat(const char* word);
  std::string standstill() const;
  void rejoin();
  void stand_back();
  void stand();
  Result<void> look_at_elector();
  cluster::Candidacy candidacy() const;
  Result<void> probe(const DatabaseWatch::Probe& database);
  void tell_hold(bool database_answers);
  void follow_clock();
  void tell_no_leader();
  void tell_slices();
  void look_at_cluster(zk::Client& client, Epoch term, bool database_answers);
  void keep_zookeeper(zk::Client& client, bool lets_go);
  void need_contents(zk::Client& client, Epoch term);
  void need_late_rows(zk::Client& client, Epoch term);
  void need_worker_starts(zk::Client& client, Epoch term);
  void need_child_runs(zk::Client& client, Epoch term);
  void hold_off(const std::string& why);
  Candidate candidate();
  void note_progress(zk::Client& client);
  StoredMark stored() const;
  model::Address own_address() const;
  zk::NodeToRegister registration_of(zk::SessionId) const;
  std::string node_data() const;
  void tell_database();
  HealthWords servers_health() const;
  ZookeeperFindings zookeeper_findings() const;
  std::unique_ptr<SelfCheck> make_self_check();
  Result<void> open_pages();
  OfficeWatchParts office_parts();
  Leads who_leads() const;

  const config::MasterOptions options_;
  const std::string password_;                 // of the database
  const zk::Paths paths_;
  const SystemClock clock_;
  OfficeState office_state_{clock_};
  OwnFigures own_figures_;
  HeartbeatFile heartbeat_;                    // office thread only
  std::atomic<MonoTime> last_beat_;            // of that thread
  std::unique_ptr<Services> services_;         // reader, logs, dispatcher, API server
  zk::Session session_;
  store::MysqlElection election_;              // read through in_force_ alone
  ElectorInForce in_force_;
  std::unique_ptr<cluster::Elector> elector_;
  std::unique_ptr<zk::Registration> registration_;
  std::unique_ptr<DatabaseWatch> database_;
  mutable std::mutex verdict_mutex_;
  std::string told_database_;                  // in the node; the database watch's thread only
  std::string verdict_ = "ok";                 // of the self check, as the node says
  std::unique_ptr<SelfCheck> self_check_;
  std::unique_ptr<OfficeWatch> office_watch_;
  std::unique_ptr<PageRows> page_rows_;
  std::unique_ptr<http::Server> pages_;

  std::atomic<bool> began_held_ = false;       // the Term knew from its first moment why ticks are held
  std::atomic<bool> restored_ = false;         // the database had gone back, and it is not accepted yet
  SlicesKnown slices_;
  // database watch's thread only
  timezone::ZoneWarmUp zones_;
  ClockHoldNote clock_note_;
  bool database_good_ = false;
  notify::NoLeaderRules no_leader_{Millis{0}};  // told by a master that does not lead
  std::string stood_by_;                       // why this master did not stand, as last told
  std::optional<Epoch> told_for_;              // the Term that was told why its ticks are held
  std::string told_hold_;
  AheadNotice ahead_notice_;
  MonoTime checked_at_{};                      // when it last looked whether this master could lead
  MonoTime noted_at_{};                        // when ZooKeeper was told what is stored
  ZookeeperKeeper keeper_;
  Epoch contents_needed_for_;                  // the last Term in which all masters were seen to read them
  Epoch late_rows_needed_for_;                 // likewise
  Epoch worker_starts_needed_for_;             // likewise
  Epoch child_runs_needed_for_;                // likewise
  MonoTime kept_at_{}, beat_at_{};             // when ZooKeeper was looked at, the database told of a leader

  StoredMark last_stored_;                     // office thread only: seen stored in the last Term
  QuietWatch quiet_;                           // office thread only
  std::string held_off_;                       // office thread only: told why ZooKeeper is not the database's

  mutable std::shared_mutex term_mutex_;       // guards the pointer: posting shares, changing owns
  std::unique_ptr<Term> term_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool elected_ = false;
  TakeoverPacing pacing_;                      // office thread only
  std::atomic<bool> stopped_ = false;
  std::jthread office_;                        // last: it uses the rest
};

}  // namespace rota::master
