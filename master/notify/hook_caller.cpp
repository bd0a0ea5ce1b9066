#include "master/notify/hook_caller.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/log.h"

namespace rota::master::notify {

std::string message_of(const model::ScaleChange& row, const Sender& sender) {
  nlohmann::ordered_json out;
  out["sequence"] = row.id;
  out["pool"] = row.pool;
  out["wanted"] = row.after;
  out["before"] = row.before;
  out["present"] = row.present;
  out["leaving"] = row.leaving;
  out["keep"] = model::workers_to_keep(row);
  out["reason"] = name_of(row.reason);
  out["stoppable"] = nlohmann::ordered_json::array();
  for (const model::WorkerKey& key : row.stoppable) {
    out["stoppable"].push_back({{"worker", key.id}, {"incarnation", key.incarnation}});
  }
  out["cluster"] = sender.cluster;
  out["master"] = sender.master;
  out["hook"] = row.hook;
  out["made_at_ms"] = to_ms(row.made);
  out["attempt"] = row.attempts + 1;
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

HookCaller::HookCaller(std::vector<Hook> hooks, Sender sender) : sender_(std::move(sender)) {
  for (Hook& hook : hooks) {
    lines_[hook.name] = std::make_unique<DeliveryLine>(std::move(hook.route), hook.timeout);
  }
}

std::vector<std::string> HookCaller::names() const {
  std::vector<std::string> out;
  for (const auto& [name, line] : lines_) out.push_back(name);
  return out;
}

void HookCaller::call(const model::ScaleChange& row, std::function<void(const std::string&)> called) {
  const auto found = lines_.find(row.hook);
  if (found == lines_.end()) return called("this master's settings name no such hook");
  found->second->put({message_of(row, sender_),
                      [called = std::move(called), name = row.hook, id = row.id](const std::string& error) {
                        if (!error.empty()) {
                          log_warn("notify", "a hook did not accept a call; it is called again",
                                   {{"hook", name}, {"sequence", id}, {"why", error}});
                        }
                        called(error);
                      }});
}

void HookCaller::stop() {
  for (const auto& [name, line] : lines_) line->stop();
}

}  // namespace rota::master::notify
