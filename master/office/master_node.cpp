#include "master/office/master_node.h"

#include <nlohmann/json.hpp>

namespace rota::master {

namespace {

using nlohmann::json;

std::string text_in(const json& node, const char* name) {
  const auto found = node.find(name);
  return found != node.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint16_t port_in(const json& node, const char* name) {
  const auto found = node.find(name);
  if (found == node.end() || !found->is_number_unsigned()) return 0;
  const auto port = found->get<std::uint64_t>();
  return port <= 65'535 ? static_cast<std::uint16_t>(port) : std::uint16_t{0};
}

}  // namespace

std::string node_text(const api::MasterView& master, const std::string& elector) {
  json node = {{"id", master.id},
               {"host", master.address.host},
               {"port", master.address.port},
               {"knows_slices", master.knows_slices},
               {"knows_contents", master.knows_contents},
               {"knows_late_rows", master.knows_late_rows},
               {"knows_worker_starts", master.knows_worker_starts},
               {"knows_child_runs", master.knows_child_runs},
               {"elector", elector},
               {"database", master.database},
               {"health", master.health}};
  if (master.page.port != 0) {
    node["page_host"] = master.page.host;
    node["page_port"] = master.page.port;
  }
  return node.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string elector_in(const std::string& text) {
  const json node = json::parse(text, nullptr, false);
  return node.is_object() ? text_in(node, "elector") : std::string();
}

api::MasterView master_in(const std::string& text) {
  const json node = json::parse(text, nullptr, false);
  api::MasterView master;
  if (!node.is_object()) return master;
  master.id = text_in(node, "id");
  master.address = {text_in(node, "host"), port_in(node, "port")};
  master.health = text_in(node, "health");
  master.elector = text_in(node, "elector");
  master.database = text_in(node, "database");
  master.knows_slices = node.value("knows_slices", json()) == true;
  master.knows_contents = node.value("knows_contents", json()) == true;
  master.knows_late_rows = node.value("knows_late_rows", json()) == true;
  master.knows_worker_starts = node.value("knows_worker_starts", json()) == true;
  master.knows_child_runs = node.value("knows_child_runs", json()) == true;
  master.page = {text_in(node, "page_host"), port_in(node, "page_port")};
  if (master.page.host.empty()) master.page.port = 0;
  return master;
}

model::Address page_address(const model::Address& listens, const std::string& advertised_host) {
  if (listens.port == 0) return {};
  const bool any = listens.host == "0.0.0.0" || listens.host == "::";
  return {any ? advertised_host : listens.host, listens.port};
}

}  // namespace rota::master
