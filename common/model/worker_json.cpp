#include "common/model/worker_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "common/base/utf8.h"

namespace rota::model {

using nlohmann::json;

std::string node_name(const WorkerKey& key) { return key.id + "@" + key.incarnation; }

std::optional<WorkerKey> worker_key_in(std::string_view node_name) {
  const auto at = node_name.find('@');
  if (at == std::string_view::npos || at == 0 || at + 1 == node_name.size()) return std::nullopt;
  if (node_name.find('@', at + 1) != std::string_view::npos) return std::nullopt;
  return WorkerKey{std::string(node_name.substr(0, at)), std::string(node_name.substr(at + 1))};
}

namespace {

constexpr std::size_t kHealthBytes = 400;
constexpr Millis kLongestLease{3'600'000};  // a longer one does not come from a worker

json json_of(const WorkerVitals& vitals) {
  return {{"cpu_percent", vitals.cpu_percent},   {"memory_percent", vitals.memory_percent},
          {"load_percent", vitals.load_percent}, {"disk_free_bytes", vitals.disk_free_bytes},
          {"threads", vitals.threads},           {"running", vitals.running},
          {"health", clean_text(vitals.health, kHealthBytes)},
          {"sampled_ms", to_ms(vitals.sampled)}};
}

}  // namespace

Result<std::string> to_json(const WorkerInfo& info) {
  json data{{"host", info.address.host},
                  {"port", info.address.port},
                  {"pool", info.pool},
                  {"labels", info.labels},
                  {"slots", info.slots},
                  {"weight", info.weight},
                  {"rank", info.rank},
                  {"draining", info.draining},
                  {"version", info.version},
                  {"kill_means", info.kill_means},
                  {"kernel_limits", info.kernel_limits},
                  {"handlers", info.handlers},
                  {"started_ms", to_ms(info.started)}};
  if (!info.start.empty()) data["start"] = info.start;
  if (info.offers) data["offers"] = *info.offers;
  if (info.drain_told) data["drain_told"] = *info.drain_told;
  if (info.drain_order) data["drain_order"] = *info.drain_order;
  if (info.stops_at) data["stops_at_ms"] = to_ms(*info.stops_at);
  if (info.lease) data["lease_ms"] = info.lease->count();
  if (info.vitals) data["vitals"] = json_of(*info.vitals);
  const auto written = [&data] { return data.dump(-1, ' ', false, json::error_handler_t::replace); };
  std::string text = written();
  // When the labels leave no room for the vitals, the vitals are left out.
  if (text.size() > kWorkerJsonLimit && data.erase("vitals") > 0) text = written();
  if (text.size() <= kWorkerJsonLimit) return text;
  return fail(ErrorCode::InvalidArgument,
              "labels and handlers of worker " + info.key.id + " need " +
                  std::to_string(text.size()) + " bytes in ZooKeeper, and 4096 are allowed");
}

namespace {

/// Reads a field if it exists and has the right kind; false when it has a wrong kind.
template <typename T>
bool take(const json& data, const char* name, std::optional<T>& into);

template <typename T>
bool take(const json& data, const char* name, T& into) {
  const auto found = data.find(name);
  if (found == data.end()) return true;
  if constexpr (std::is_same_v<T, bool>) {
    if (!found->is_boolean()) return false;
  } else if constexpr (std::is_integral_v<T>) {
    if (!found->is_number_integer()) return false;
    const auto wide = found->template get<std::int64_t>();
    if (wide < 0 || !std::in_range<T>(wide)) return false;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) return false;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (!found->is_array()) return false;
    for (const auto& each : *found) {
      if (!each.is_string()) return false;
    }
  } else if constexpr (std::is_same_v<T, Amounts>) {
    if (!found->is_object()) return false;
    for (const auto& each : *found) {
      if (!each.is_number_integer() || each.template get<std::int64_t>() < 0) return false;
    }
  } else {
    if (!found->is_object()) return false;
    for (const auto& each : *found) {
      if (!each.is_string()) return false;
    }
  }
  found->get_to(into);
  return true;
}

template <typename T>
bool take(const json& data, const char* name, std::optional<T>& into) {
  return !data.contains(name) || take(data, name, into.emplace());
}

/// Unreadable fields count as missing: no decision depends only on these.
std::optional<WorkerVitals> vitals_in(const json& data) {
  const auto found = data.find("vitals");
  if (found == data.end() || !found->is_object()) return std::nullopt;
  WorkerVitals vitals;
  std::int64_t sampled_ms = 0;
  const bool good = take(*found, "cpu_percent", vitals.cpu_percent) &&
                    take(*found, "memory_percent", vitals.memory_percent) &&
                    take(*found, "load_percent", vitals.load_percent) &&
                    take(*found, "disk_free_bytes", vitals.disk_free_bytes) &&
                    take(*found, "threads", vitals.threads) &&
                    take(*found, "running", vitals.running) &&
                    take(*found, "health", vitals.health) && take(*found, "sampled_ms", sampled_ms);
  if (!good) return std::nullopt;
  vitals.sampled = wall_from_ms(sampled_ms);
  return vitals;
}

}  // namespace

Result<WorkerInfo> worker_from_json(const WorkerKey& key, const std::string& text) {
  const json data = json::parse(text, nullptr, false);
  const auto bad = [&](const char* what) {
    return fail(ErrorCode::Corrupt, "the node of worker " + node_name(key) + ": " + what);
  };
  if (!data.is_object()) return bad("no JSON object");
  WorkerInfo info;
  info.key = key;
  std::int64_t started_ms = 0;
  std::optional<std::int64_t> lease_ms, stops_at_ms;
  const bool good =
      take(data, "host", info.address.host) && take(data, "port", info.address.port) &&
      take(data, "pool", info.pool) && take(data, "labels", info.labels) &&
      take(data, "slots", info.slots) && take(data, "weight", info.weight) &&
      take(data, "rank", info.rank) &&
      take(data, "draining", info.draining) &&
      take(data, "drain_told", info.drain_told) && take(data, "drain_order", info.drain_order) &&
      take(data, "version", info.version) &&
      take(data, "kill_means", info.kill_means) && take(data, "handlers", info.handlers) &&
      take(data, "kernel_limits", info.kernel_limits) &&
      take(data, "start", info.start) && take(data, "offers", info.offers) &&
      take(data, "started_ms", started_ms) && take(data, "lease_ms", lease_ms) &&
      take(data, "stops_at_ms", stops_at_ms);
  if (!good) return bad("a field of the wrong kind");
  if (info.address.host.empty() || info.address.port == 0) return bad("no address");
  info.started = wall_from_ms(started_ms);
  if (stops_at_ms) info.stops_at = wall_from_ms(*stops_at_ms);
  if (lease_ms) info.lease = std::min(Millis{*lease_ms}, kLongestLease);
  info.vitals = vitals_in(data);
  return info;
}

}  // namespace rota::model
