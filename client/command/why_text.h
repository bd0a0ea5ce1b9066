// The checks behind `why`, for people and for programs.
#pragma once

#include <why_types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rota::client {

/// "decided at ... by m1 (term 7)"; empty: nobody has decided.
std::string decision_text(const thrift::WhyDecision& decision);
/// A line for each check that was passed or stopped it, who holds what it waits for, and the command that
/// helps.
std::string checks_text(const std::vector<thrift::WhyCheck>& checks);

nlohmann::json to_json(const thrift::WhyDecision& decision);
nlohmann::json to_json(const thrift::WhyPlace& place);
nlohmann::json to_json(const std::vector<thrift::WhyCheck>& checks);

/// Checks, decision and place of an answer that has them; null where it has not.
template <typename Answer>
void put_why(nlohmann::json& out, const Answer& answer) {
  out["checks"] = answer.__isset.checks ? to_json(answer.checks) : nlohmann::json(nullptr);
  out["decision"] = answer.__isset.decision ? to_json(answer.decision) : nlohmann::json(nullptr);
  out["place"] = answer.__isset.place ? to_json(answer.place) : nlohmann::json(nullptr);
}

template <typename Answer>
std::string why_text(const Answer& answer) {
  std::string text;
  if (answer.__isset.decision) text += decision_text(answer.decision);
  if (answer.__isset.checks) text += checks_text(answer.checks);
  return text;
}

}  // namespace rota::client
