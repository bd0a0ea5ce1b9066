#include "master/services.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/config/load.h"
#include "common/host/elsewhere.h"
#include "common/model/setting_fields.h"
#include "common/time/zones.h"
#include "master/store/mysql/database_hosts.h"
#include "master/store/mysql/database_secret.h"
#include "master/store/logs/folder_log_store.h"
#include "master/store/logs/mysql_log_store.h"
#include "master/store/mysql/office_check.h"
#include "master/store/mysql/schema.h"

namespace rota::master {
namespace {

constexpr Millis kLockWait{3000};

store::PoolOptions pool_options(const config::DatabaseOptions& options, const api::LeaderPort& master) {
  store::PoolOptions wanted;
  wanted.connections = static_cast<std::size_t>(options.pool_connections);
  wanted.silence = [&master] { return master.database_silence(); };
  return wanted;
}

dispatch::DispatcherOptions dispatcher_options(const config::MasterOptions& options) {
  dispatch::DispatcherOptions wanted;
  wanted.threads = options.dispatch_threads;
  wanted.rpc_timeout = options.rpc_deadline;
  wanted.grant = options.grant;
  return wanted;
}

api::ApiOptions api_options(const config::MasterOptions& options) {
  api::ApiOptions wanted;
  wanted.host = options.listen.host;
  wanted.port = options.listen.port;
  wanted.threads = options.api.threads;
  wanted.max_connections = options.api.connections;
  wanted.cluster = options.cluster;
  wanted.master_id = options.id;
  wanted.plaintext_networks = options.plaintext_networks;
  wanted.reserve_percent = options.workers.reserve_percent;
  return wanted;
}

/// Between two passes of retention: what was kept long enough goes an eighth of that time late at most.
Millis pause_for(Millis keep, Millis most) {
  return keep > Millis{0} ? std::clamp(keep / 8, Millis{1000}, most) : most;
}

FileSettings file_settings(const config::MasterOptions& options) {
  FileSettings file;
  for (const auto& [key, value] : config::whole_values(options)) {
    if (const auto* field = model::find_setting(key)) field->set(file.values, value);
  }
  file.given = {options.given.begin(), options.given.end()};
  return file;
}

RetentionOptions retention_options(const model::Settings& settings) {
  RetentionOptions wanted;
  wanted.keep_logs = settings.keep_logs;
  wanted.limit_bytes = settings.log_limit_bytes;
  wanted.pause_after_pass = pause_for(wanted.keep_logs, wanted.pause_after_pass);
  return wanted;
}

RunRetentionOptions run_retention_options(const model::Settings& settings) {
  RunRetentionOptions wanted;
  wanted.keep_runs = settings.keep_runs;
  wanted.pause_after_pass = pause_for(wanted.keep_runs, wanted.pause_after_pass);
  return wanted;
}

NodeHistoryOptions node_history_options(const config::MasterOptions& options) {
  NodeHistoryOptions wanted;
  // A worker that is shown as gone has a life.
  wanted.keep_lives = options.workers.keep_lives == Millis{0}
                          ? Millis{0}
                          : std::max(options.workers.keep_lives, options.workers.keep_dead);
  wanted.reserve_percent = options.workers.reserve_percent;
  return wanted;
}

std::vector<notify::Receiver> receivers_of(const config::MasterOptions& options) {
  std::vector<notify::Receiver> out;
  for (const config::ReceiverOptions& from : options.receivers) {
    notify::Receiver one;
    one.rule.name = from.name;
    one.rule.is_default = std::ranges::find(options.notify.to, from.name) != options.notify.to.end();
    for (std::size_t i = 0; i < model::kWantedHappenings; ++i) {
      const auto what = static_cast<model::Happening>(i);
      const auto asked = std::ranges::find(from.events, name_of(what));
      if (from.events.empty() || asked != from.events.end()) one.rule.wants.insert(what);
    }
    one.timeout = from.timeout;
    one.route = from.command.empty() ? notify::http_route(from.url) : notify::command_route(from.command);
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<notify::Hook> hooks_of(const config::MasterOptions& options) {
  std::vector<notify::Hook> out;
  for (const config::HookOptions& from : options.hooks) {
    out.push_back({from.name, from.timeout,
                   from.command.empty() ? notify::http_route(from.url)
                                        : notify::command_route(from.command)});
  }
  return out;
}

/// In one order for all connections of this process; a socket is a server alone.
std::shared_ptr<store::DatabaseHosts> hosts_of(const config::DatabaseOptions& options) {
  if (!options.socket.empty()) return nullptr;
  std::vector<store::DatabaseHost> hosts;
  for (const std::string& host : options.hosts) {
    hosts.push_back(store::database_host_named(host, options.port));
  }
  if (hosts.empty()) hosts.push_back({options.host, options.port});
  return std::make_shared<store::DatabaseHosts>(std::move(hosts));
}

std::unique_ptr<store::LogStore> log_store(const config::MasterOptions& options,
                                           const store::MysqlOptions& database,
                                           const api::LeaderPort& master) {
  if (options.logs.store != "folder") {
    return std::make_unique<store::MysqlLogStore>(database, pool_options(options.database, master),
                                                  options.logs.compress);
  }
  store::FolderLogOptions wanted;
  wanted.folder = options.logs.folder;
  wanted.writer = options.id + "-" + random_hex(6);
  wanted.compress = options.logs.compress;
  return std::make_unique<store::FolderLogStore>(std::move(wanted));
}

}  // namespace

store::MysqlOptions mysql_options(const config::DatabaseOptions& options,
                                  const std::string& password) {
  store::MysqlOptions wanted;
  wanted.host = options.host;
  wanted.port = options.port;
  wanted.hosts = hosts_of(options);
  wanted.socket = options.socket;
  wanted.user = options.user;
  wanted.secret = std::make_shared<store::DatabaseSecret>(
      password, [file = options.password_file]() -> Result<std::string> {
        return file.empty() ? Result<std::string>(std::string()) : config::read_secret(file);
      });
  wanted.database = options.name;
  wanted.connect_timeout = options.connect_timeout;
  wanted.read_timeout = options.statement_timeout + Millis{1000};
  wanted.lock_wait = std::min(kLockWait, options.statement_timeout);
  return wanted;
}

Services::Services(const config::MasterOptions& options, const std::string& database_password,
                   api::LeaderPort& leader)
    : database_(mysql_options(options.database, database_password)),
      leader_(leader),
      store_(database_),
      office_(database_, timezone::load_zone),
      probe_(database_, timezone::load_zone),
      reader_(database_, pool_options(options.database, leader)),
      settings_(file_settings(options)),
      logs_(log_store(options, database_, leader), clock_),
      pruned_(database_),
      history_(database_),
      log_retention_(logs_, pruned_, tick_clock_, [this] { return bool{tick_clock_.doubt()}; },
                     retention_options(settings_.file().values)),
      run_retention_({history_, pruned_, logs_}, tick_clock_, [this] { return bool{tick_clock_.doubt()}; },
                     run_retention_options(settings_.file().values)),
      nodes_(database_),
      node_history_(node_parts(), tick_clock_, node_history_options(options)),
      dispatcher_(reader_, dispatcher_options(options)),
      notifier_(receivers_of(options), {options.cluster, options.id}),
      hooks_(hooks_of(options), {options.cluster, options.id}),
      api_(api::ApiParts{leader, reader_, logs_, tick_clock_, [this] { return cluster_uuid(); },
                         [this](const std::string& name) {
                           return notifier_.test(name, "test-" + random_hex(12), tick_clock_.wall());
                         },
                         [this] { return settings_view(); }},
           api_options(options)) {
  settings_.listen([this](const model::Settings& now) {
    log_retention_.set_options(retention_options(now));
    run_retention_.set_options(run_retention_options(now));
  });
}

api::SettingsView Services::settings_view() const {
  return {settings_.file().values, settings_.file().given, settings_.rows()};
}

NodeHistoryParts Services::node_parts() {
  return NodeHistoryParts{nodes_, reader_, [this] { return leader_.snapshot(); },
                          [this] { return bool{tick_clock_.doubt()}; },
                          [this](const core::PoolShortage& shortage) {
                            (void)leader_.post(core::CapacityLow{shortage.words});  // refused: it is over
                          }};
}

std::string Services::database_in_use() const {
  return database_.hosts ? database_.hosts->in_use() : database_.socket;
}

Services::~Services() { stop(); }

Result<void> Services::start() {
  if (auto ready = logs_.prepare(); !ready) return ready;
  log_retention_.start();
  run_retention_.start();
  node_history_.start();
  return api_.start();
}

void Services::stop() {
  end_term();
  log_retention_.stop();
  run_retention_.stop();
  node_history_.stop();
  api_.stop();
  notifier_.stop();
  hooks_.stop();
  dispatcher_.stop();
}

std::string Services::logs_trouble() const {
  const std::string trouble = logs_.trouble();
  const std::string alarm = api_.log_refusals().alarm;
  if (!trouble.empty() || alarm.empty()) return trouble;
  return "output came with other content than is stored, and was refused: " + alarm;
}

loop::ReplyTo Services::reply_to() {
  return [this](Token token, core::ReplyBody body) {
    api_.replies().reply(token, std::move(body));
  };
}

DatabaseWatch::Probe Services::prepare_database() {
  return [this]() -> Result<void> {
    auto newest = store::upgrade_schema(database_);
    if (!newest) return fail(newest.error());
    // Of a leader its batches tell; nothing but those may end its time in office.
    if (auto able = leader_.leading() ? Result<void>{} : check_office(); !able) return able;
    log_info("database", "schema stands", {{"step", *newest}});
    tick_clock_.set_database_elsewhere(database_.socket.empty() && host::is_elsewhere(database_.host));
    return {};
  };
}

Result<void> Services::check_office() const { return store::check_office(database_); }

Result<bool> Services::read_password_again() { return database_.secret->read_again(); }

DatabaseWatch::Probe Services::probe_database() {
  return [this]() -> Result<void> {
    const MonoTime before = BootClock::now();
    const auto marks = probe_.read_marks();
    if (!marks) return fail(marks.error());
    tick_clock_.look(marks->database_now, before, BootClock::now());
    // What cannot be read now is read with the next probe; that the database answers is known already.
    (void)settings_.follow(marks->newest_setting, [this] { return reader_.newest_settings(); });
    return {};
  };
}

std::string Services::cluster_uuid() const {
  std::scoped_lock lock(mutex_);
  return cluster_uuid_;
}

void Services::begin_term(Epoch epoch, const std::string& cluster_uuid,
                          const model::Address& address) {
  {
    std::scoped_lock lock(mutex_);
    cluster_uuid_ = cluster_uuid;
  }
  dispatcher_.begin_term(dispatch::TermFace{
      epoch, cluster_uuid, address,
      [this](core::Event event) { (void)leader_.post(std::move(event)); }});  // refused: it is over
  log_retention_.set_leading(true);
  run_retention_.set_leading(true);
  node_history_.set_leading(true);
}

void Services::end_term() {
  log_retention_.set_leading(false);
  run_retention_.set_leading(false);
  node_history_.set_leading(false);
  dispatcher_.end_term();
}

}  // namespace rota::master
