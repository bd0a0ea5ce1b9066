#include "client/command/why_text.h"

#include <fmt/format.h>

#include "client/command/screen.h"
#include "client/command/table.h"

namespace rota::client {
namespace {

using nlohmann::json;

constexpr int kVerdictWidth = 8, kNameWidth = 15;

void add_stop(std::string& text, const thrift::WhyCheck& check) {
  const std::string indent(kVerdictWidth + 2 + kNameWidth + 2, ' ');
  for (const std::string& holder : check.holders)
    text += fmt::format("{}held by {}\n", indent, printable(holder));
  if (!check.command.empty()) text += fmt::format("{}$ {}\n", indent, printable(check.command));
}

std::string names_of(const std::vector<thrift::WhyCheck>& checks, const char* verdict) {
  std::string names;
  for (const thrift::WhyCheck& check : checks) {
    if (check.verdict != verdict) continue;
    names += (names.empty() ? "" : ", ") + check.name;
  }
  return names;
}

}  // namespace

std::string decision_text(const thrift::WhyDecision& decision) {
  if (decision.epoch == 0) return "";
  const std::string who =
      decision.leader.empty() ? "the leader, whose name is not stored," : printable(decision.leader);
  std::string text = fmt::format("decided by {} (term {}", who, decision.epoch);
  if (decision.__isset.since_ms) text += ", in office since " + show_time(decision.since_ms);
  text += ")";
  if (decision.__isset.at_ms) text += " at " + show_time(decision.at_ms);
  return text + "\n";
}

std::string checks_text(const std::vector<thrift::WhyCheck>& checks) {
  std::string text;
  for (const thrift::WhyCheck& check : checks) {
    const bool is_stop = check.verdict == "stopped";
    const bool is_told = is_stop || check.verdict == "passed" || !check.sentence.empty();
    if (!is_told) continue;
    const std::string line = fmt::format("{:<{}}  {:<{}}  {}",
                                         is_stop                     ? "STOPPED"
                                         : check.verdict == "passed" ? "passed"
                                                                     : "unknown",
                                         kVerdictWidth, check.name, kNameWidth, printable(check.sentence));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (is_stop || !check.command.empty()) add_stop(text, check);
  }
  if (const std::string names = names_of(checks, "not_reached"); !names.empty()) {
    text += fmt::format("not reached: {}\n", names);
  }
  if (const std::string names = names_of(checks, "not_known"); !names.empty()) {
    text += fmt::format("not known: {}\n", names);
  }
  return text;
}

json to_json(const thrift::WhyDecision& decision) {
  return {{"at_ms", decision.__isset.at_ms ? json(decision.at_ms) : json(nullptr)},
          {"term", decision.epoch},
          {"leader", decision.leader},
          {"in_office_since_ms", decision.__isset.since_ms ? json(decision.since_ms) : json(nullptr)}};
}

json to_json(const thrift::WhyPlace& place) {
  return {{"pool", place.pool},         {"place", place.place},       {"waiting", place.waiting},
          {"at_least", place.is_least}, {"priority", place.priority}, {"weight", place.weight}};
}

json to_json(const std::vector<thrift::WhyCheck>& checks) {
  json out = json::array();
  for (const thrift::WhyCheck& check : checks) {
    out.push_back({{"check", check.name}, {"verdict", check.verdict}, {"sentence", check.sentence},
                   {"holders", check.holders}, {"command", check.command}});
  }
  return out;
}

}  // namespace rota::client
