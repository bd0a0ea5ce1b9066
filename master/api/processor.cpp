#include "master/api/processor.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "master/api/service_adapters.h"

namespace rota::master::api {
namespace {

using apache::thrift::protocol::TProtocol;

constexpr std::array<std::string_view, 3> kReportMethods = {"report", "append_log", "renew"};

class OpenReports final : public thrift::ReportServiceProcessor {
 public:
  using thrift::ReportServiceProcessor::dispatchCall;
  using thrift::ReportServiceProcessor::ReportServiceProcessor;
};

class BothServices final : public thrift::JobServiceProcessor {
 public:
  BothServices(std::shared_ptr<thrift::JobServiceIf> jobs,
               std::shared_ptr<thrift::ReportServiceIf> reports)
      : JobServiceProcessor(std::move(jobs)), reports_(std::move(reports)) {}

 protected:
  bool dispatchCall(TProtocol* in, TProtocol* out, const std::string& method, std::int32_t sequence,
                    void* context) override {
    const bool is_report = std::ranges::find(kReportMethods, method) != kReportMethods.end();
    return is_report ? reports_.dispatchCall(in, out, method, sequence, context)
                     : JobServiceProcessor::dispatchCall(in, out, method, sequence, context);
  }

 private:
  OpenReports reports_;
};

}  // namespace

rpc::ProcessorOf make_processors(std::shared_ptr<JobService> jobs,
                                 std::shared_ptr<ReportService> reports) {
  return [jobs, reports](const std::string& peer) {
    const rpc::Edge edge(rpc::caller_of_connection(peer));
    return std::make_shared<BothServices>(adapt(jobs, edge), adapt(reports, edge));
  };
}

}  // namespace rota::master::api
