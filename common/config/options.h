// The operator's settings as plain structs with their defaults. The tables in options_table.cpp give
// each setting its key, unit, range and comment; config/master.yaml and config/worker.yaml are
// written from them. Durations are milliseconds in the files and chrono types here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/log.h"
#include "common/base/time.h"

namespace rota::config {

struct ZooKeeperOptions {
  std::string connect = "127.0.0.1:2181";  ///< host:port[,host:port...], no path
  Millis session_timeout{4000};            ///< requested from the server
  Millis server_tick{500};                 ///< the servers' tickTime

  Millis beat() const { return session_timeout / 6; }
  /// How much earlier than the session a worker's lease ends.
  Millis margin() const { return server_tick + beat() + Millis{300}; }
};

struct ListenOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free port
};

/// For elector: mysql.
struct MysqlElectorOptions {
  Millis lease{5000};
  Millis beat{500};
};

/// For elector: etcd.
struct EtcdOptions {
  std::vector<std::string> endpoints;  ///< like http://10.0.0.5:2379
  std::int32_t lease_s = 5;
  Millis beat{500};
};

/// The pages for people and monitoring.
struct HttpOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: none
};

struct AdvertiseOptions {
  std::string host;  ///< filled with listen.host when empty
};

struct DatabaseOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 3306;
  std::vector<std::string> hosts;  ///< "db1" or "db1:3307", in order of preference; in place of host
  std::string socket;  ///< path; when set, used instead of host and port
  std::string user = "rota";
  std::string password_file;  ///< mode 0600; empty: no password. Read it with read_secret
  std::string name = "rota";
  std::int32_t pool_connections = 8;
  Millis connect_timeout{2000};
  Millis statement_timeout{3000};
};

struct ApiOptions {
  std::int32_t threads = 64;
  std::int32_t connections = 2000;
};

struct TakeoverOptions {
  Millis settle{5000};  ///< runs wait at most this long for workers that were there before
};

struct RunsOptions {
  Millis keep = std::chrono::hours{24 * 90};  ///< after a run's end, with its output; 0: forever
};

/// Output of jobs. All masters of a cluster must agree on store and folder.
struct LogsOptions {
  std::string store = "mysql";  ///< or "folder"
  std::string folder;           ///< of the folder store: one that all masters reach
  bool compress = true;
  Millis keep = std::chrono::hours{24 * 30};  ///< after a run's end; 0: forever
  std::int64_t limit_bytes = 100ll << 30;     ///< of all output; 0: none
};

/// When workers that are gone are dead, and for how long one that fails what succeeds elsewhere is excluded.
struct WorkersOptions {
  Millis dead_after{600'000};  ///< offline for so long: dead
  Millis keep_dead = std::chrono::hours{24};  ///< after the end of its last life
  Millis exclude{60'000};      ///< the first time
  Millis keep_lives = std::chrono::hours{24 * 90};  ///< after their end; 0: forever
  std::int32_t reserve_percent = 30;  ///< of a pool's slots, that should be free
};

struct CatchUpOptions {
  std::int32_t rate = 20;  ///< runs of late ticks that start a second, in each pool
};

/// Something outside that is called by name: at an URL, or by a command.
struct HookOptions {
  std::string name;
  std::string url;
  std::vector<std::string> command;
  Millis timeout{10'000};           ///< of one try
};

/// Who is told what happens.
struct ReceiverOptions : HookOptions {
  std::vector<std::string> events;  ///< empty: all
};

struct NotifyOptions {
  std::vector<std::string> to;     ///< receivers of jobs that name none
  Millis no_leader_after{30'000};  ///< a master that does not lead tells that nobody does
};

struct MasterOptions {
  std::string id;  ///< filled with the host's name when empty
  std::string cluster = "rota";
  std::string state_dir = "/var/lib/rota/master";
  std::string heartbeat_file;  ///< filled with state_dir/heartbeat when empty
  ZooKeeperOptions zookeeper;
  std::string elector = "zookeeper";  ///< or mysql, etcd
  MysqlElectorOptions mysql_elector;
  EtcdOptions etcd;
  ListenOptions listen;
  HttpOptions http;
  AdvertiseOptions advertise;
  std::vector<std::string> plaintext_networks;  ///< CIDR; beyond loopback, only these are allowed
  DatabaseOptions database;
  Millis store_give_up{6000};
  std::int32_t inbox_events = 10'000;
  std::int32_t max_batch_events = 2000;
  Millis rpc_deadline{2000};
  Millis grant{5000};
  std::int32_t dispatch_threads = 8;
  ApiOptions api;
  TakeoverOptions takeover;
  RunsOptions runs;
  CatchUpOptions catch_up;
  WorkersOptions workers;
  std::vector<ReceiverOptions> receivers;
  NotifyOptions notify;
  std::vector<HookOptions> hooks;
  LogsOptions logs;
  Millis hang_limit{30'000};  ///< how old the heartbeat may get before the watchdog acts
  LogOptions log;
  std::vector<std::string> given;  ///< keys that the file or the environment says; set by load_master
};

struct OutputOptions {
  std::int64_t cap_bytes = 64ll << 20;  ///< of one attempt; a job may ask for less
  std::int64_t log_chunk_bytes = 65'536;
  Millis log_chunk{200};
  std::int64_t spool_limit_bytes = 4ll << 30;
};

/// Of `offers`: bytes of a name, the most of one, and how many there may be.
inline constexpr std::size_t kMaxOfferName = 64;
inline constexpr std::int64_t kMaxOffer = std::int64_t{1} << 50;
inline constexpr std::size_t kMaxOffers = 16;

struct WorkerOptions {
  std::string id;  ///< filled with the host's name when empty
  std::string cluster = "rota";
  std::string pool = "default";
  std::map<std::string, std::string> labels;
  std::int32_t slots = 4;
  std::map<std::string, std::string> offers;  ///< amounts_of(offers) reads them
  std::int32_t weight = 100;
  std::int32_t rank = 100;
  std::string state_dir = "/var/lib/rota/worker";
  std::string work_dir;        ///< filled with state_dir/work when empty
  std::string heartbeat_file;  ///< filled with state_dir/heartbeat when empty
  ZooKeeperOptions zookeeper;  ///< session_timeout 6,000 ms: see the constructor
  ListenOptions listen;
  HttpOptions http;
  AdvertiseOptions advertise;
  std::vector<std::string> plaintext_networks;
  Millis rpc_deadline{2000};
  Millis renew_every{1000};
  Millis drain_deadline{600'000};
  OutputOptions output;
  std::int64_t outbox_limit_bytes = 256ll << 20;
  std::string warden_binary;  ///< filled with rota-warden beside the program when empty
  std::string containment = "auto";  ///< or pid_namespace, cgroup, scan
  std::string cgroup_dir;            ///< empty: below the worker's own cgroup
  std::vector<std::string> job_environment = {"PATH", "LANG", "LC_ALL", "TZ", "HOME", "USER"};
  std::vector<std::string> run_as_users;  ///< users that jobs may run as; root only if named here
  Millis hang_limit{30'000};
  LogOptions log;

  WorkerOptions() { zookeeper.session_timeout = Millis{6000}; }
};

}  // namespace rota::config
