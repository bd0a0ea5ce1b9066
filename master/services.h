// The parts of a master that know the database and the network, made from the configuration and wired
// to each other. They live as long as the process and outlive every Term.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "common/config/options.h"
#include "master/api/api_server.h"
#include "master/upkeep/clock_guard.h"
#include "master/upkeep/database_watch.h"
#include "master/dispatch/dispatcher.h"
#include "master/upkeep/log_retention.h"
#include "master/upkeep/log_store_watch.h"
#include "master/loop/loop.h"
#include "master/notify/hook_caller.h"
#include "master/notify/notifier.h"
#include "master/upkeep/node_history.h"
#include "master/upkeep/run_retention.h"
#include "master/upkeep/settings_in_force.h"
#include "master/store/log_store.h"
#include "master/store/mysql/mysql_history.h"
#include "master/store/mysql/mysql_nodes.h"
#include "master/store/mysql/mysql_office.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_retention.h"
#include "master/store/mysql/mysql_store.h"

namespace rota::master {

/// The database as the stores are told of it.
store::MysqlOptions mysql_options(const config::DatabaseOptions& options, const std::string& password);

/// Thread: start, stop, begin_term and end_term by Master; store and office by its office thread.
class Services {
 public:
  Services(const config::MasterOptions& options, const std::string& database_password,
           api::LeaderPort& leader);
  ~Services();

  Result<void> start();
  void stop();
  std::uint16_t port() const { return api_.port(); }
  /// Why the log store takes no output, or what came with other content than it holds; empty: neither.
  std::string logs_trouble() const;
  api::LogRefusals log_refusals() const { return api_.log_refusals(); }
  std::shared_ptr<const core::NodeFacts> node_facts() const { return node_history_.facts(); }
  dispatch::DispatchCounters dispatch_counters() const { return dispatcher_.counters(); }

  store::Reader& reader() { return reader_; }
  store::Store& store() { return store_; }
  store::Office& office() { return office_; }
  /// For the database watch's thread.
  store::Office& watch_office() { return probe_; }
  dispatch::Sender& sender() { return dispatcher_; }
  loop::ReplyTo reply_to();
  notify::Notifier& notifier() { return notifier_; }
  notify::HookCaller& hooks() { return hooks_; }
  SettingsInForce& settings() { return settings_; }

  /// The clock of Terms; each probe of the database looks after it.
  const ClockGuard& tick_clock() const { return tick_clock_; }
  /// The operator's word for the host's clock as it is.
  void accept_clock() { tick_clock_.accept(); }

  /// host:port of the newest connection, or the socket; empty: there was none yet.
  std::string database_in_use() const;

  /// SIGHUP: reads the password's file again. False: it holds the same one.
  Result<bool> read_password_again();

  /// What the database watch asks: first the schema steps and whether this account can do what a leader
  /// does, then whether it answers.
  DatabaseWatch::Probe prepare_database();
  DatabaseWatch::Probe probe_database();
  /// The second half of prepare_database, for masters that wait for office.
  Result<void> check_office() const;

  /// From now on messages of this Term go out and their answers come to the leader's inbox.
  void begin_term(Epoch epoch, const std::string& cluster_uuid, const model::Address& address);
  void end_term();

 private:
  std::string cluster_uuid() const;
  api::SettingsView settings_view() const;
  NodeHistoryParts node_parts();

  const store::MysqlOptions database_;
  api::LeaderPort& leader_;
  const SystemClock clock_;
  ClockGuard tick_clock_{clock_};
  mutable std::mutex mutex_;
  std::string cluster_uuid_;
  store::MysqlStore store_;
  store::MysqlOffice office_;
  store::MysqlOffice probe_;      ///< the database watch's own connection
  store::MysqlReader reader_;
  SettingsInForce settings_;
  LogStoreWatch logs_;
  store::MysqlRetention pruned_;
  store::MysqlHistory history_;
  LogRetention log_retention_;
  RunRetention run_retention_;
  store::MysqlNodes nodes_;
  NodeHistory node_history_;
  dispatch::Dispatcher dispatcher_;
  notify::Notifier notifier_;
  notify::HookCaller hooks_;
  api::ApiServer api_;
};

}  // namespace rota::master
