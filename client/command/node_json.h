// What `-o json` prints of masters, minutes of workers, and capacity.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace rota::thrift {
class CapacityReport;
class MasterNode;
class NodeHistory;
class Usage;
}  // namespace rota::thrift

namespace rota::client {

nlohmann::json to_json(const thrift::MasterNode& master);
nlohmann::json to_json(const thrift::NodeHistory& history);
nlohmann::json to_json(const thrift::CapacityReport& report);
nlohmann::json to_json(const thrift::Usage& usage);

}  // namespace rota::client
