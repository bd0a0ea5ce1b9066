// What workers tell (services.h). Results and renewals go through the leader's loop; log
// chunks go straight to the store, on any master.
#pragma once

#include <vector>

#include "master/api/api_server.h"
#include "master/api/leader_desk.h"
#include "master/api/log_intake.h"
#include "master/api/services.h"

namespace rota::master::api {

/// Thread: any (the server's pool). Methods throw RotaError and nothing else.
class ReportServiceHandler final : public ReportService {
 public:
  /// All outlive it.
  ReportServiceHandler(LogIntake& intake, const ApiOptions& options, LeaderDesk& desk, const Clock& clock)
      : intake_(intake), options_(options), desk_(desk), clock_(clock) {}

  void report(const Caller& caller, std::vector<thrift::AttemptKey>& out,
              const thrift::ReportRequest& request) override;
  void append_log(const Caller& caller, std::vector<std::int64_t>& out,
                  const std::vector<thrift::LogChunk>& chunks) override;
  void renew(const Caller& caller, const thrift::RenewRequest& request) override;

 private:
  MonoTime deadline() const { return BootClock::now() + options_.default_deadline; }

  LogIntake& intake_;
  const ApiOptions& options_;
  LeaderDesk& desk_;
  const Clock& clock_;
};

}  // namespace rota::master::api
