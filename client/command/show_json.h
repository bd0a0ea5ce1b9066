// What `-o json` prints: one object or array per call, times as ..._at_ms, ids of runs and jobs as
// strings (they need more than 53 bits), names as in the store.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace rota::thrift {
class RunInfo;
class RunDetail;
class JobInfo;
class GapInfo;
class WorkerInfo;
class WorkerLife;
class ClusterStatus;
class CalendarEnding;
class FreezeInfo;
class JobsOver;
class VerifyReport;
class Explanation;
class JobDefinition;
class Schedule;
}  // namespace rota::thrift

namespace rota::client {

nlohmann::json to_json(const thrift::RunInfo& run);
nlohmann::json to_json(const thrift::RunDetail& detail);
nlohmann::json to_json(const thrift::JobInfo& job);
nlohmann::json to_json(const thrift::GapInfo& gap);
nlohmann::json to_json(const thrift::JobDefinition& definition);
nlohmann::json to_json(const thrift::WorkerInfo& worker);
nlohmann::json to_json(const thrift::WorkerLife& life);
nlohmann::json to_json(const thrift::ClusterStatus& status);
nlohmann::json to_json(const thrift::FreezeInfo& freeze);
nlohmann::json to_json(const thrift::JobsOver& over);
nlohmann::json to_json(const thrift::CalendarEnding& ending);
nlohmann::json to_json(const thrift::VerifyReport& report);
nlohmann::json to_json(const thrift::Explanation& why);

}  // namespace rota::client
