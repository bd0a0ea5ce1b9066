#include "master/notify/message.h"

#include <nlohmann/json.hpp>

namespace rota::master::notify {

std::string message_of(const model::Notification& row, const Sender& sender, const std::string& id) {
  nlohmann::ordered_json out;
  out["id"] = id.empty() ? std::to_string(row.id) : id;
  out["event"] = name_of(row.what);
  out["text"] = row.text;
  out["cluster"] = sender.cluster;
  out["master"] = sender.master;
  out["receiver"] = row.receiver;
  if (row.job != JobId{}) {
    out["namespace"] = row.space;
    out["job"] = row.job_name;
  }
  if (row.run != RunId{}) out["run"] = row.run.value;
  if (!row.worker.empty()) out["worker"] = row.worker;
  if (row.moment) out["tick_ms"] = to_ms(*row.moment);
  out["count"] = row.count;
  out["made_at_ms"] = to_ms(row.made);
  out["attempt"] = row.attempts + 1;
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace rota::master::notify
