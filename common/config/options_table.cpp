#include "common/config/options_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "common/base/log_format.h"
#include "common/base/size_text.h"
#include "common/config/receivers.h"

namespace rota::config {
namespace {

constexpr std::int64_t kMiB = 1ll << 20;
constexpr std::int64_t kGiB = 1ll << 30;
constexpr std::int64_t kHourMs = 3'600'000;

template <typename Number>
Setting whole(std::string key, Number& field, std::int64_t min, std::int64_t max,
              std::string comment) {
  return {
      std::move(key),
      std::move(comment),
      WholeField{[&field] { return static_cast<std::int64_t>(field); },
                 [&field](std::int64_t value) { field = static_cast<Number>(value); }, min, max},
      {},
      false};
}

Setting millis(std::string key, Millis& field, std::int64_t min, std::int64_t max,
               std::string comment) {
  return {std::move(key),
          std::move(comment),
          WholeField{[&field] { return field.count(); },
                     [&field](std::int64_t value) { field = Millis{value}; }, min, max},
          {},
          false};
}

template <typename Value>
Setting other(std::string key, Value& field, std::string comment, Check check = {}) {
  return {std::move(key), std::move(comment), &field, std::move(check), false};
}

/// Allows an empty text, which means "fill it in".
Check unless_empty(Check check) {
  return [check = std::move(check)](const std::string& value) {
    return value.empty() ? std::string() : check(value);
  };
}

using Settings = std::vector<Setting>;

void append(Settings& to, Settings from) {
  for (auto& setting : from) to.push_back(std::move(setting));
}

Settings zookeeper_settings(ZooKeeperOptions& o) {
  return {
      other("zookeeper.connect", o.connect,
            "ZooKeeper's servers: host:port, separated by commas.", check_connect),
      millis("zookeeper.session_timeout_ms", o.session_timeout, 1000, 60'000,
             "How long ZooKeeper waits for a heartbeat before it ends this process's session. "
             "Must be between 2 and 20 ticks of the server."),
      millis("zookeeper.server_tick_ms", o.server_tick, 50, 10'000,
             "The servers' tickTime. A lease is shorter than the session by this time, a beat (a sixth "
             "of the session) and 300 ms."),
  };
}

Settings elector_settings(MasterOptions& o) {
  return {
      other("elector", o.elector,
            "What decides which master takes office: zookeeper, mysql (a lease in the database) or etcd (a "
            "lease there). Only masters of the elector that the database names stand for election; "
            "rota-master --set-elector changes it. Workers are in ZooKeeper whatever it is.",
            check_elector),
      millis("mysql_elector.lease_ms", o.mysql_elector.lease, 1000, 60'000,
             "For elector: mysql. How long a leader that is not heard of any more stays elected. At least "
             "four beats."),
      millis("mysql_elector.beat_ms", o.mysql_elector.beat, 100, 10'000,
             "How often the leader renews that lease, and the others ask whether it is free."),
      other("etcd.endpoints", o.etcd.endpoints,
            "For elector: etcd. Its servers (3.4 or later), like [\"http://10.0.0.5:2379\"].",
            check_endpoint),
      whole("etcd.lease_s", o.etcd.lease_s, 2, 60,
            "How long a leader that is not heard of any more stays elected; etcd knows whole seconds. At "
            "least four beats."),
      millis("etcd.beat_ms", o.etcd.beat, 100, 10'000,
             "How often the leader renews that lease, and the others ask whether it is free."),
  };
}

Settings network_settings(ListenOptions& listen, AdvertiseOptions& advertise,
                          std::vector<std::string>& networks) {
  return {
      other("listen.host", listen.host,
            "The address that this process listens on. An address beyond loopback must be in one of "
            "plaintext_networks, because connections are not encrypted.",
            check_bind),
      whole("listen.port", listen.port, 0, 65'535,
            "The port that this process listens on. 0: any free one, which it then publishes."),
      other("advertise.host", advertise.host,
            "The host name or address by which others reach this process. Empty: listen.host.",
            unless_empty(check_no_space)),
      other("plaintext_networks", networks,
            "Networks beyond loopback on which unencrypted connections are accepted, like "
            "[10.0.0.0/8]. Every start and every status shows them.",
            check_network),
  };
}

Settings http_settings(HttpOptions& o) {
  return {
      other("http.host", o.host,
            "The address of the status page, /metrics and /healthz. An address beyond loopback must be in "
            "one of plaintext_networks. Everyone who can reach it can read these pages; they change nothing.",
            check_bind),
      whole("http.port", o.port, 0, 65'535, "Its port. 0: no pages."),
  };
}

Settings database_settings(DatabaseOptions& o) {
  return {
      other("database.host", o.host, "The host of MariaDB or MySQL.", check_no_space),
      whole("database.port", o.port, 1, 65'535, "Its port."),
      other("database.hosts", o.hosts,
            "Several servers of one database in order of preference, like [db1, db2, db3:3307], instead of "
            "host: the nodes of a Galera cluster, or a primary and its replica. The first that is usable is "
            "used.",
            check_host),
      other("database.socket", o.socket,
            "Path of the server's socket. When it is set, it is used instead of host and port.",
            check_path),
      other("database.user", o.user, "The account.", check_no_space),
      other("database.password_file", o.password_file,
            "A file with the password, readable only by this user (mode 0600). Empty: no "
            "password. It is read again when the server refuses the password, and on SIGHUP.",
            check_path),
      other("database.name", o.name, "The name of the database, which must exist.", check_word),
      whole("database.pool_connections", o.pool_connections, 1, 200,
            "Connections for queries, in addition to the one that writes."),
      millis("database.connect_timeout_ms", o.connect_timeout, 100, 30'000,
             "How long opening a connection may take."),
      millis("database.statement_timeout_ms", o.statement_timeout, 100, 60'000,
             "How long a statement may take."),
  };
}

Settings log_settings(LogOptions& o) {
  Settings settings = {
      other("log.level", o.level, "Lines below this level are not written."),
      other("log.channels", o.channels,
            "Levels of single channels, like {zk: debug, loop: warn}."),
      other("log.console", o.console, "Write lines to stderr."),
      other("log.json", o.json, "Write JSON lines instead of text."),
      other("log.file", o.file, "Path of a log file. Empty: none.", check_path),
      whole("log.rotate_bytes", o.rotate_bytes, 4096, 10 * kGiB,
            "Size at which the log file is rotated."),
      whole("log.keep_files", o.keep_files, 1, 1000, "How many rotated files are kept."),
  };
  for (auto& setting : settings) setting.reloads = true;
  return settings;
}

Settings folder_settings(std::string& state_dir, std::string& heartbeat_file, Millis& hang_limit) {
  return {
      other("state_dir", state_dir,
            "Folder for what must survive a restart. Each process needs its own, mode 0700.", check_path),
      other("heartbeat_file", heartbeat_file,
            "The file that the process touches while it makes progress; the watchdog checks it. "
            "Empty: state_dir/heartbeat.",
            check_path),
      millis("hang_limit_ms", hang_limit, 1000, kHourMs,
             "How old the heartbeat may get before the watchdog treats the process as hung."),
  };
}

/// Numbers of the loop and of the parts beside it.
Settings master_limits(MasterOptions& o) {
  return {
      millis("store_give_up_ms", o.store_give_up, 500, 60'000,
             "How long a leader tries to reach its database before it leaves office."),
      whole("inbox_events", o.inbox_events, 100, 1'000'000,
            "Requests and reports that may wait for the loop. When there are more, the answer is "
            "\"overloaded, retry later\"."),
      whole("max_batch_events", o.max_batch_events, 1, 100'000,
            "The most events that one transaction holds."),
      millis("rpc_deadline_ms", o.rpc_deadline, 100, 60'000,
             "How long a call to a worker or another master may take."),
      millis("grant_ms", o.grant, 1000, 60'000,
             "How long a voucher of the leader keeps a worker's attempts alive; workers renew it often."),
      whole("dispatch_threads", o.dispatch_threads, 1, 256, "Threads that call workers."),
      whole("api.threads", o.api.threads, 1, 1024, "Threads that serve requests."),
      whole("api.connections", o.api.connections, 10, 100'000,
            "Connections that may be open at once."),
      millis("takeover.settle_ms", o.takeover.settle, 0, 60'000,
             "How long runs may wait, right after a takeover, for workers that are coming back."),
  };
}

Settings runs_settings(RunsOptions& o) {
  return {
      millis("runs.keep_ms", o.keep, 0, 3660 * 24 * kHourMs,
             "How long a run is kept after its end, with its output, for jobs without keep_runs. Ticks "
             "that did not fire are kept as long. 0: forever."),
  };
}

Settings catch_up_settings(CatchUpOptions& o) {
  return {
      whole("catch_up.rate", o.rate, 1, 100'000,
            "How many runs of late ticks start a second in each pool, after an outage or a freeze. Live "
            "ticks never wait for them."),
  };
}

Settings workers_settings(WorkersOptions& o) {
  return {
      millis("workers.dead_after_ms", o.dead_after, 1000, 30 * 24 * kHourMs,
             "A worker that has been offline for so long is shown as dead, and left out of lists."),
      millis("workers.keep_dead_ms", o.keep_dead, 1000, 366 * 24 * kHourMs,
             "How long a worker that vanished is known at all. Its lives stay in the history."),
      millis("workers.exclude_ms", o.exclude, 100, 24 * kHourMs,
             "How long a worker gets no runs when it first fails what succeeds elsewhere, or comes and goes. "
             "Each time in a row is twice as long, up to ten times this."),
      millis("workers.keep_lives_ms", o.keep_lives, 0, 3660 * 24 * kHourMs,
             "How long lives of workers are kept after their end. 0: forever."),
      whole("workers.reserve_percent", o.reserve_percent, 0, 90,
            "How much of the slots of each pool should be free; rota capacity and rota attention tell "
            "when it is less."),
  };
}

Settings notify_settings(MasterOptions& o) {
  return {
      other("receivers", o.receivers,
            "Who is told when something goes wrong, like [{name: ops, url: \"http://10.0.0.9/alarm\", "
            "events: [failed, lost], timeout: 10s}, {name: mail, command: [/usr/local/bin/tell]}]. Must be "
            "the same for all masters; see docs/notifications.md."),
      other("hooks", o.hooks,
            "What starts and stops workers when a pool should have another number of them, like [{name: k8s, "
            "url: \"http://10.0.0.9/scale\", timeout: 10s}, {name: local, command: [/usr/local/bin/scale]}]. "
            "rota pool set POOL --hook NAME uses one. Must be the same for all masters; see "
            "docs/autoscale.md."),
      other("notify.default", o.notify.to, "Receivers of jobs that do not name any.", check_name),
      millis("notify.no_leader_after_ms", o.notify.no_leader_after, 1000, 86'400'000,
             "A master that does not lead tells receivers when nobody has led for so long."),
  };
}

Settings logs_settings(LogsOptions& o) {
  return {
      other("logs.store", o.store,
            "Where the output of jobs is kept: mysql, or folder (a tree of files). Must be the same for all "
            "masters. Output in the other store is not shown.",
            check_log_store),
      other("logs.folder", o.folder,
            "The folder for logs.store: folder. All masters must reach it under this path (a shared "
            "mount); they create no folder above it.",
            check_path),
      other("logs.compress", o.compress,
            "Compress output with zstd where that saves at least an eighth."),
      millis("logs.keep_ms", o.keep, 0, 3660 * 24 * kHourMs,
             "How long output is kept after its run's end, for jobs without keep_logs. 0: forever."),
      whole("logs.limit_bytes", o.limit_bytes, 0, 1024 * 1024 * kGiB,
            "How much output is kept in total. When there is more, the output of the oldest runs is deleted "
            "early, except for jobs that keep it forever. 0: no limit."),
  };
}

Settings worker_limits(WorkerOptions& o) {
  return {
      millis("rpc_deadline_ms", o.rpc_deadline, 100, 60'000,
             "How long a call to a master may take."),
      millis("renew_every_ms", o.renew_every, 100, 30'000,
             "How often the worker asks the leader to vouch for it."),
      millis("drain_deadline_ms", o.drain_deadline, 0, 7 * 24 * kHourMs,
             "How long a stopping worker lets its attempts run before it hands them over."),
      whole("output.cap_bytes", o.output.cap_bytes, 4096, 64 * kGiB,
            "The most output that is kept of each of an attempt's two streams. Of a longer stream, head and "
            "tail are kept. A job may ask for less."),
      // Masters accept no larger chunks (master/api/report_service.cpp).
      whole("output.log_chunk_bytes", o.output.log_chunk_bytes, 1024, 64 << 10,
            "Size at which a piece of output is sent to a master."),
      millis("output.log_chunk_ms", o.output.log_chunk, 10, 60'000,
             "Age at which a smaller piece is sent."),
      whole("output.spool_limit_bytes", o.output.spool_limit_bytes, kMiB, 1024 * kGiB,
            "The most disk space that output may use while it waits to be sent."),
      whole("outbox_limit_bytes", o.outbox_limit_bytes, kMiB, 64 * kGiB,
            "The most disk space that results may use while they wait to be acknowledged. When they use "
            "more, no new attempt is accepted."),
  };
}

std::string quoted_if_needed(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-:").find(c) != std::string_view::npos;
  });
  const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
  const bool is_word = text == "true" || text == "false" || text == "null";
  if (plain && !is_number && !is_word) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

struct ValueText {
  std::string operator()(const WholeField& field) const { return std::to_string(field.get()); }
  std::string operator()(const bool* field) const { return *field ? "true" : "false"; }
  std::string operator()(const std::string* field) const { return quoted_if_needed(*field); }
  std::string operator()(const std::vector<std::string>* field) const {
    std::vector<std::string> parts;
    for (const auto& item : *field) parts.push_back(quoted_if_needed(item));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  std::string operator()(const std::map<std::string, std::string>* field) const {
    std::vector<std::string> parts;
    for (const auto& [key, value] : *field) parts.push_back(key + ": " + quoted_if_needed(value));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  std::string operator()(const std::vector<ReceiverOptions>* field) const {
    std::vector<std::string> parts;
    for (const ReceiverOptions& one : *field) parts.push_back(receiver_text(one));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  std::string operator()(const std::vector<HookOptions>* field) const {
    std::vector<std::string> parts;
    for (const HookOptions& one : *field) parts.push_back(hook_text(one));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  std::string operator()(const Severity* field) const { return std::string(name_of(*field)); }
  std::string operator()(const std::map<std::string, Severity>* field) const {
    std::vector<std::string> parts;
    for (const auto& [key, value] : *field) {
      parts.push_back(fmt::format("{}: {}", key, name_of(value)));
    }
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
};

constexpr std::string_view kLevels = "debug, info, warn or error";

}  // namespace

std::string Setting::environment_name() const {
  std::string out = "ROTA_";
  for (const char c : key) {
    out += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string Setting::unit() const {
  if (!std::holds_alternative<WholeField>(field)) return "";
  const auto last = key.substr(key.find_last_of("._") + 1);
  return last == "ms" || last == "bytes" ? last : "";
}

std::string Setting::allowed() const {
  if (const auto* whole_field = std::get_if<WholeField>(&field)) {
    const std::string range = fmt::format("{} to {}", whole_field->min, whole_field->max);
    return unit().empty() ? range : range + ' ' + unit();
  }
  if (std::holds_alternative<bool*>(field)) return "true or false";
  if (std::holds_alternative<Severity*>(field)) return std::string(kLevels);
  if (std::holds_alternative<std::map<std::string, Severity>*>(field)) {
    return "a map of channels to " + std::string(kLevels);
  }
  if (std::holds_alternative<std::vector<std::string>*>(field)) return "a list of texts";
  if (std::holds_alternative<std::map<std::string, std::string>*>(field)) return "a map of texts";
  if (std::holds_alternative<std::vector<ReceiverOptions>*>(field)) return "a list of receivers";
  if (std::holds_alternative<std::vector<HookOptions>*>(field)) return "a list of hooks";
  return "";
}

std::string Setting::value_text() const { return std::visit(ValueText{}, field); }

Settings settings_of(MasterOptions& o) {
  Settings all = {
      other("id", o.id, "The name of this master in the cluster. Empty: the host's name.",
            check_name),
      other("cluster", o.cluster, "The name of the cluster: the node under /rota in ZooKeeper.",
            check_cluster),
  };
  append(all, folder_settings(o.state_dir, o.heartbeat_file, o.hang_limit));
  append(all, network_settings(o.listen, o.advertise, o.plaintext_networks));
  append(all, http_settings(o.http));
  append(all, zookeeper_settings(o.zookeeper));
  append(all, elector_settings(o));
  append(all, database_settings(o.database));
  append(all, master_limits(o));
  append(all, runs_settings(o.runs));
  append(all, catch_up_settings(o.catch_up));
  append(all, workers_settings(o.workers));
  append(all, notify_settings(o));
  append(all, logs_settings(o.logs));
  append(all, log_settings(o.log));
  return all;
}

namespace {

std::string check_containment(const std::string& value) {
  for (const char* known : {"auto", "pid_namespace", "cgroup", "scan"}) {
    if (value == known) return {};
  }
  return "is none of auto, pid_namespace, cgroup and scan";
}

/// "memory: 8GiB"
std::string check_offer(const std::string& text) {
  const auto colon = text.find(": ");
  const std::string name = text.substr(0, colon);
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  if (name.empty() || name.size() > kMaxOfferName || !std::ranges::all_of(name, is_of_word)) {
    return fmt::format("has a name that is not 1 to {} letters, digits, '_', '-' or '.'", kMaxOfferName);
  }
  const auto amount = parse_size(colon == std::string::npos ? "" : text.substr(colon + 2));
  if (amount && *amount <= kMaxOffer) return {};
  return fmt::format("is no amount from 0 to {}; write it like {{memory: 64GiB, cpu: 16}}",
                     format_size(kMaxOffer));
}

}  // namespace

Settings settings_of(WorkerOptions& o) {
  Settings all = {
      other("id", o.id, "The name of this worker in the cluster. Empty: the host's name.",
            check_name),
      other("cluster", o.cluster, "The name of the cluster: the node under /rota in ZooKeeper.",
            check_cluster),
      other("pool", o.pool, "The pool that this worker belongs to; jobs name a pool.", check_name),
      other("labels", o.labels, 
            "Shown with the worker, like {disk: ssd}. Jobs choose workers by them with `select`."),
      whole("slots", o.slots, 1, 10'000,
            "How many attempts run at once; one of a job with slots: 2 counts as two."),
      other("offers", o.offers,
            "What it has beside its slots, like {memory: 64GiB, cpu: 16, gpu: 2}: whole numbers by name, "
            "memory in bytes or with KiB, MiB, GiB or TiB. Jobs take of it what their needs say, and never "
            "more in all. What is not named here is not offered.",
            check_offer),
      whole("weight", o.weight, 0, 10'000,
            "Its share of the runs of jobs with route: weighted_round_robin; 0 counts as 1."),
      whole("rank", o.rank, 0, 10'000,
            "Routes first, failover and busyover prefer the lowest, last the highest; then the id decides."),
  };
  append(all, folder_settings(o.state_dir, o.heartbeat_file, o.hang_limit));
  all.push_back(other("work_dir", o.work_dir,
                      "Folder in which each attempt gets a folder of its own. Empty: "
                      "state_dir/work.",
                      check_path));
  all.push_back(other("warden_binary", o.warden_binary,
                      "Path of rota-warden. Empty: the one beside rota-worker.", check_path));
  all.push_back(other("containment", o.containment,
                      "How the processes of an attempt are held together, killed and proven dead: "
                      "pid_namespace, cgroup (version 2, writable for this process), scan (subreaper, and "
                      "searches of /proc), or auto: the first of these that works here. It is an error to "
                      "name one that does not work here.",
                      check_containment));
  all.push_back(other("cgroup_dir", o.cgroup_dir,
                      "Folder of a cgroup (version 2) in which containment: cgroup creates its own. "
                      "Empty: the cgroup that this process was started in.",
                      check_path));
  all.push_back(other("job_environment", o.job_environment,
                      "Variables of this process that jobs inherit if they are set.",
                      check_word));
  all.push_back(other("run_as_users", o.run_as_users,
                      "Users that a job may ask to run as (run_as); root only when it is named here. "
                      "This process needs the right to change the user, and these users the right to reach "
                      "work_dir. A job that names no user runs as this process's own user.",
                      check_name));
  append(all, network_settings(o.listen, o.advertise, o.plaintext_networks));
  append(all, http_settings(o.http));
  append(all, zookeeper_settings(o.zookeeper));
  append(all, worker_limits(o));
  append(all, log_settings(o.log));
  return all;
}

}  // namespace rota::config
