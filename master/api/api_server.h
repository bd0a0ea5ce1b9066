// The port of a master: JobService and ReportService on one server, with the table of replies that
// wait for the loop. Queries are answered by every master; what only the leader may do or knows is
// refused with the leader's address, or passed on one hop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "master/api/leader_port.h"
#include "master/api/log_intake.h"
#include "master/api/settings_view.h"
#include "master/store/log_store.h"
#include "master/store/reader.h"

namespace rota::master::api {

struct ApiOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;                  ///< 0: any free one
  int threads = 64;
  int max_connections = 1024;
  std::string cluster = "rota";
  std::string master_id;                   ///< named in status answers
  Millis default_deadline{5000};           ///< of a request that names none
  Millis max_deadline{60'000};
  std::size_t max_waiting = 20'000;        ///< replies open at once; beyond it: overloaded
  int max_log_waits = 24;                  ///< threads that may wait for new log lines at once
  std::vector<std::string> plaintext_networks;
  std::int32_t reserve_percent = 30;       ///< of all slots, that should be free
};

/// What the API asks; all outlive it.
struct ApiParts {
  LeaderPort& leader;
  store::Reader& reader;
  store::LogStore& logs;
  const Clock& clock;
  std::function<std::string()> cluster_uuid;  ///< may be empty; asked by any thread
  /// Sends a real notification to that receiver and gives its answer; may be empty.
  std::function<Result<std::string>(const std::string& receiver)> test_receiver = {};
  /// What is in force on this master; may be empty: what is built in.
  std::function<SettingsView()> settings = {};
};

/// Owned by Master. Thread: any.
class ApiServer {
 public:
  ApiServer(ApiParts parts, ApiOptions options);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// Unavailable: the address can't be bound.
  Result<void> start();
  /// Answers every waiting request UnknownOutcome, then ends the server. Twice is fine.
  void stop();

  std::uint16_t port() const;
  /// For the loop.
  ReplySink& replies();
  /// How much output was refused, and why.
  LogRefusals log_refusals() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rota::master::api
