// The servers of one database, in order of preference. A connection goes to the first that is usable; one
// that has just failed is asked last for a while, so that a server that is away costs one connect timeout,
// not one at each connection.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::master::store {

struct DatabaseHost {
  std::string host;
  std::uint16_t port = 3306;
  bool operator==(const DatabaseHost&) const = default;
};

std::string text_of(const DatabaseHost& host);

/// "db1" or "db1:3307". Pure.
DatabaseHost database_host_named(std::string_view text, std::uint16_t default_port);

/// Whether that error number of the server, or of the client library, says that this server is no use at
/// present: it is away, it ends, it may not write, or it is no part of its Galera cluster's majority. Pure.
bool is_host_unusable(int sql_error);

/// Of these: it still answers, and may show old rows for as long as it is asked. Pure.
bool is_host_behind(int sql_error);

/// Shared by all connections of a process. Thread: any.
class DatabaseHosts {
 public:
  static constexpr Millis kAskedLastFor{10'000};

  /// At least one.
  explicit DatabaseHosts(std::vector<DatabaseHost> hosts);

  /// All of them in the order in which to ask: as preferred, those that have failed lately behind the others.
  std::vector<DatabaseHost> in_order(MonoTime now) const;
  void note_failure(const DatabaseHost& host, MonoTime now, int sql_error = 0);
  /// How often this one was found to be behind, as a fenced primary is, or a Galera node without the others.
  /// It may still answer, so connections from before must not be asked any more. 0 for the only server.
  int times_behind(const DatabaseHost& host) const;
  /// A connection to this one was opened.
  void note_use(const DatabaseHost& host);
  /// That of the newest connection; empty: there was none yet.
  std::string in_use() const;
  std::size_t count() const { return places_.size(); }

 private:
  struct Place {
    DatabaseHost host;
    MonoTime last_until{};
    int times_behind = 0;
  };
  mutable std::mutex mutex_;
  std::vector<Place> places_;
  std::string in_use_;
};

}  // namespace rota::master::store
