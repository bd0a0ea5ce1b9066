#include "master/api/api_server.h"

#include "common/rpc/server.h"
#include "master/api/job_service.h"
#include "master/api/leader_desk.h"
#include "master/api/log_intake.h"
#include "master/api/log_tail.h"
#include "master/api/processor.h"
#include "master/api/reply_table.h"
#include "master/api/report_service.h"

namespace rota::master::api {
namespace {

rpc::ServerOptions server_options(const ApiOptions& options) {
  rpc::ServerOptions out;
  out.host = options.host;
  out.port = options.port;
  out.name = "api";
  out.threads = options.threads;
  out.max_connections = options.max_connections;
  return out;
}

}  // namespace

class ApiServer::Impl {
 public:
  Impl(const ApiParts& parts, ApiOptions options)
      : options_(std::move(options)),
        replies_(options_.max_waiting),
        desk_(parts.leader, replies_),
        intake_(parts.reader, parts.logs, parts.clock),
        tail_(parts.reader, parts.logs, parts.clock, options_.max_log_waits),
        server_(make_processors(
                    std::make_shared<JobServiceHandler>(parts, options_, desk_, tail_),
                    std::make_shared<ReportServiceHandler>(intake_, options_, desk_, parts.clock)),
                server_options(options_)) {}
  ~Impl() { stop(); }

  Result<void> start() { return server_.start(); }
  void stop() {
    replies_.close();
    tail_.stop();
    server_.stop();
  }
  std::uint16_t port() const { return server_.port(); }
  ReplySink& replies() { return replies_; }
  LogRefusals log_refusals() const { return intake_.refusals(); }

 private:
  const ApiOptions options_;
  ReplyTable replies_;
  LeaderDesk desk_;
  LogIntake intake_;
  LogTail tail_;
  rpc::Server server_;  // last: its threads use the others
};

ApiServer::ApiServer(ApiParts parts, ApiOptions options)
    : impl_(std::make_unique<Impl>(parts, std::move(options))) {}
ApiServer::~ApiServer() = default;
Result<void> ApiServer::start() { return impl_->start(); }
void ApiServer::stop() { impl_->stop(); }
std::uint16_t ApiServer::port() const { return impl_->port(); }
ReplySink& ApiServer::replies() { return impl_->replies(); }
LogRefusals ApiServer::log_refusals() const { return impl_->log_refusals(); }

}  // namespace rota::master::api
