#include "common/config/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "common/config/settings_reader.h"

extern char** environ;

namespace rota::config {
namespace {

/// Checks of several settings together. Each says what it found, what is allowed, and which setting to
/// change.
class CrossChecks {
 public:
  explicit CrossChecks(SettingsReader& reader) : reader_(reader) {}

  void pages(const HttpOptions& http, const std::vector<std::string>& networks);
  void bind(const ListenOptions& listen, const AdvertiseOptions& advertise,
            const std::vector<std::string>& networks);
  void session(const ZooKeeperOptions& zookeeper);
  void lease(const ZooKeeperOptions& zookeeper);
  void hang_limit(Millis limit, Millis longest_wait, std::string_view what_waits);
  void database(const DatabaseOptions& database, Millis give_up);
  void elector(const MasterOptions& options);
  void receivers(const MasterOptions& options);

 private:
  SettingsReader& reader_;
};

void CrossChecks::pages(const HttpOptions& http, const std::vector<std::string>& networks) {
  if (http.port == 0 || is_loopback(http.host) || lies_in(http.host, networks)) return;
  reader_.refuse("http.host",
                 fmt::format("is {}, beyond loopback, and unencrypted; use 127.0.0.1, or name its "
                             "network in plaintext_networks",
                             http.host));
}

void CrossChecks::bind(const ListenOptions& listen, const AdvertiseOptions& advertise,
                       const std::vector<std::string>& networks) {
  if (!is_loopback(listen.host) && !lies_in(listen.host, networks)) {
    reader_.refuse("listen.host",
                   fmt::format("{} is beyond loopback, where connections would not be encrypted; "
                               "listen on 127.0.0.1, or name its network in plaintext_networks "
                               "(for 0.0.0.0 that is 0.0.0.0/0)",
                               listen.host));
  }
  const bool any = listen.host == "0.0.0.0" || listen.host == "::";
  if (any && advertise.host.empty()) {
    reader_.refuse("advertise.host",
                   fmt::format("is empty while listen.host is {}; give the address by which others "
                               "reach this host",
                               listen.host));
  }
}

void CrossChecks::session(const ZooKeeperOptions& zookeeper) {
  const auto tick = zookeeper.server_tick;
  if (zookeeper.session_timeout >= 2 * tick && zookeeper.session_timeout <= 20 * tick) return;
  reader_.refuse(
      "zookeeper.session_timeout_ms",
      fmt::format("{} is not between 2 and 20 ticks of the server ({} to {}), so the server "
                  "would change it; change it or zookeeper.server_tick_ms",
                  zookeeper.session_timeout.count(), 2 * tick.count(), 20 * tick.count()));
}

void CrossChecks::lease(const ZooKeeperOptions& zookeeper) {
  const Millis lease = zookeeper.session_timeout - zookeeper.margin();
  if (lease >= 2 * zookeeper.beat()) return;
  reader_.refuse("zookeeper.session_timeout_ms",
                 fmt::format("{} leaves a lease of {} ms (session minus a margin of {} ms), less "
                             "than two beats of {} ms; make the session longer or "
                             "zookeeper.server_tick_ms shorter",
                             zookeeper.session_timeout.count(), lease.count(),
                             zookeeper.margin().count(), zookeeper.beat().count()));
}

void CrossChecks::hang_limit(Millis limit, Millis longest_wait, std::string_view what_waits) {
  if (limit > longest_wait) return;
  reader_.refuse("hang_limit_ms",
                 fmt::format("{} is not above {} ms ({}), so a process that only waits would "
                             "be killed; make it longer",
                             limit.count(), longest_wait.count(), what_waits));
}

void CrossChecks::database(const DatabaseOptions& database, Millis give_up) {
  const Millis one_try = database.connect_timeout + database.statement_timeout;
  if (give_up < one_try) {
    reader_.refuse("store_give_up_ms",
                   fmt::format("{} is below {} ms, one new connection and one statement; make it "
                               "longer, or database.statement_timeout_ms shorter",
                               give_up.count(), one_try.count()));
  }
  if (!database.hosts.empty() && !database.socket.empty()) {
    reader_.refuse("database.hosts", "is set beside database.socket; name the servers in one of them");
  }
  if (database.password_file.empty()) return;
  if (const auto secret = read_secret(database.password_file); !secret) {
    reader_.refuse("database.password_file", secret.error().message);
  }
}

/// A lease outlives a few renewals that are lost or late: otherwise one slow answer would change the leader.
void CrossChecks::elector(const MasterOptions& options) {
  constexpr int kBeatsInLease = 4;
  if (const auto& mysql = options.mysql_elector; mysql.lease < kBeatsInLease * mysql.beat) {
    reader_.refuse("mysql_elector.lease_ms",
                   fmt::format("{} is less than four beats of {} ms, so that a slow answer would change "
                               "the leader; make it longer, or mysql_elector.beat_ms shorter",
                               mysql.lease.count(), mysql.beat.count()));
  }
  const Millis lease = std::chrono::seconds{options.etcd.lease_s};
  if (lease < kBeatsInLease * options.etcd.beat) {
    reader_.refuse("etcd.lease_s",
                   fmt::format("{} is less than four beats of {} ms, so that a slow answer would change "
                               "the leader; make it longer, or etcd.beat_ms shorter",
                               options.etcd.lease_s, options.etcd.beat.count()));
  }
  if (options.elector == "etcd" && options.etcd.endpoints.empty()) {
    reader_.refuse("etcd.endpoints", "is empty while elector is etcd; give the addresses of etcd's servers");
  }
}

void CrossChecks::receivers(const MasterOptions& options) {
  for (const std::string& name : options.notify.to) {
    const auto found = std::ranges::find(options.receivers, name, &ReceiverOptions::name);
    if (found != options.receivers.end()) continue;
    reader_.refuse("notify.default", fmt::format("'{}' is no receiver; name it under receivers", name));
  }
}

void check(const MasterOptions& o, SettingsReader& reader) {
  CrossChecks checks(reader);
  checks.bind(o.listen, o.advertise, o.plaintext_networks);
  checks.pages(o.http, o.plaintext_networks);
  checks.session(o.zookeeper);
  const Millis deadline = std::max({o.rpc_deadline, o.database.connect_timeout,
                                    o.database.statement_timeout, o.zookeeper.session_timeout});
  checks.hang_limit(o.hang_limit, o.store_give_up + deadline,
                    "store_give_up_ms and the longest deadline");
  checks.database(o.database, o.store_give_up);
  checks.elector(o);
  checks.receivers(o);
  if (o.logs.store == "folder" && o.logs.folder.empty()) {
    reader.refuse("logs.folder", "is empty while logs.store is folder; give the path of a folder "
                                 "that all masters reach");
  }
}

void check(const WorkerOptions& o, SettingsReader& reader) {
  CrossChecks checks(reader);
  checks.bind(o.listen, o.advertise, o.plaintext_networks);
  checks.pages(o.http, o.plaintext_networks);
  checks.session(o.zookeeper);
  checks.lease(o.zookeeper);
  checks.hang_limit(o.hang_limit, std::max(o.rpc_deadline, o.zookeeper.session_timeout),
                    "the longest deadline and the session");
  if (o.offers.size() > kMaxOffers) {
    reader.refuse("offers", fmt::format("has {} names, at most {} are allowed; leave some out",
                                        o.offers.size(), kMaxOffers));
  }
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

/// Settings that are the same in both programs and may be left empty.
template <typename Options>
void fill_in(Options& o, SettingsReader& reader) {
  if (o.id.empty()) {
    o.id = host_name();
    if (const auto problem = check_name(o.id); !problem.empty()) {
      reader.refuse("id", fmt::format("is empty, and the host's name '{}' {}", o.id, problem));
    }
  }
  if (o.state_dir.empty()) reader.refuse("state_dir", "is empty; give a folder");
  if (o.heartbeat_file.empty()) o.heartbeat_file = o.state_dir + "/heartbeat";
  if (o.advertise.host.empty()) o.advertise.host = o.listen.host;
}

void fill_in_own(MasterOptions& o, const SettingsReader& reader) { o.given = reader.given(); }

void fill_in_own(WorkerOptions& o, const SettingsReader&) {
  if (o.work_dir.empty()) o.work_dir = o.state_dir + "/work";
  if (o.pool.empty()) o.pool = "default";
  if (!o.warden_binary.empty()) return;
  char self[4096] = {};
  const auto length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  const std::string path(self, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  o.warden_binary = path.substr(0, path.rfind('/') + 1) + "rota-warden";
}

template <typename Options>
tl::expected<Options, Problems> load(const std::string& path, const Environment& environment) {
  Options options;
  Problems problems;
  auto settings = settings_of(options);
  SettingsReader reader(settings, path, problems);
  if (!path.empty()) {
    if (const auto root = read_yaml_file(path, problems)) reader.read_document(*root);
  }
  reader.read_environment(environment);
  check(options, reader);
  fill_in(options, reader);
  fill_in_own(options, reader);
  if (!problems.empty()) return tl::unexpected<Problems>(std::move(problems));
  return options;
}

template <typename Options>
std::vector<std::string> differing(Options now, Options wanted) {
  const auto before = settings_of(now);
  const auto after = settings_of(wanted);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].reloads || before[i].value_text() == after[i].value_text()) continue;
    keys.push_back(before[i].key);
  }
  return keys;
}

}  // namespace

Environment process_environment() {
  Environment out;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const auto equals = text.find('=');
    if (!text.starts_with("ROTA_") || equals == std::string_view::npos) continue;
    out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

tl::expected<MasterOptions, Problems> load_master(const std::string& path,
                                                  const Environment& environment) {
  return load<MasterOptions>(path, environment);
}

tl::expected<WorkerOptions, Problems> load_worker(const std::string& path,
                                                  const Environment& environment) {
  return load<WorkerOptions>(path, environment);
}

std::map<std::string, std::int64_t> whole_values(MasterOptions options) {
  std::map<std::string, std::int64_t> values;
  for (const Setting& setting : settings_of(options)) {
    const auto* field = std::get_if<WholeField>(&setting.field);
    if (field != nullptr) values.emplace(setting.key, field->get());
  }
  return values;
}

std::vector<std::string> needs_restart(const MasterOptions& now, const MasterOptions& wanted) {
  return differing(now, wanted);
}

std::vector<std::string> needs_restart(const WorkerOptions& now, const WorkerOptions& wanted) {
  return differing(now, wanted);
}

}  // namespace rota::config
