// What a worker did in the last 24 hours: a line of small blocks for each figure.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/node_json.h"
#include "client/command/sparkline.h"

namespace rota::client {
namespace {

using Minute = thrift::NodeMinute;

constexpr std::size_t kCells = 72;
constexpr std::int64_t kMinuteMs = 60'000;

/// One place for each minute from the first to the last; those that nobody noted are empty.
template <typename Value>
Values values_of(const std::vector<thrift::NodeMinute>& minutes, const Value& value) {
  const std::int64_t first = minutes.front().minute_ms, last = minutes.back().minute_ms;
  Values out(static_cast<std::size_t>((last - first) / kMinuteMs) + 1);
  for (const thrift::NodeMinute& minute : minutes) {
    out.at(static_cast<std::size_t>((minute.minute_ms - first) / kMinuteMs)) = value(minute);
  }
  return out;
}

/// "cpu      ▁▂▃▅▃▁  1 to 63 %"
std::string line_of(const char* name, const Values& values, double scale, const char* unit) {
  double least = 0, most = 0;
  bool is_known = false;
  for (const auto& value : values) {
    if (!value) continue;
    least = is_known ? std::min(least, *value) : *value;
    most = is_known ? std::max(most, *value) : *value;
    is_known = true;
  }
  const std::string range = is_known ? fmt::format("{:g} to {:g}{}", least, most, unit) : "not known";
  const std::string drawn = sparkline(folded(values, kCells), scale > 0 ? scale : most);
  return fmt::format("{:<10} {}  {}\n", name, drawn, range);
}

std::string history_text(const thrift::NodeHistory& history) {
  const auto& minutes = history.minutes;
  if (minutes.empty()) return "nothing was noted of it in the last 24 hours\n";
  std::string out = fmt::format("{} to {}, {} minutes\n", show_time(minutes.front().minute_ms),
                                show_time(minutes.back().minute_ms), minutes.size());
  const auto add = [&](const char* name, double scale, const char* unit, const auto& value) {
    out += line_of(name, values_of(minutes, value), scale, unit);
  };
  const auto percent = [](std::int32_t Minute::*field) {
    return [field](const Minute& minute) {
      const bool is_known = minute.__isset.cpu_percent;  // all of them are, or none
      return is_known ? std::optional<double>(minute.*field) : std::nullopt;
    };
  };
  const auto count = [](std::int64_t Minute::*field) {
    return [field](const Minute& minute) { return std::optional(static_cast<double>(minute.*field)); };
  };
  add("cpu", 100, " %", percent(&Minute::cpu_percent));
  add("memory", 100, " %", percent(&Minute::memory_percent));
  add("load", 100, " %", percent(&Minute::load_percent));
  add("running", 0, "", [](const Minute& minute) { return std::optional(minute.running); });
  add("scheduled", 0, " a minute", count(&Minute::scheduled));
  add("succeeded", 0, " a minute", count(&Minute::succeeded));
  add("failed", 0, " a minute", count(&Minute::failed));
  return out;
}

}  // namespace

int worker_history(Desk& desk, const std::string& id) {
  const auto history = desk.cluster.worker_history(id);
  if (!history) return complain(history.error());
  if (desk.prints_data()) {
    print_data(desk.format, to_json(*history));
  } else {
    print_text(history_text(*history));
  }
  return kOk;
}

}  // namespace rota::client
