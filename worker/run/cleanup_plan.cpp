#include "worker/run/cleanup_plan.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/model/template_text.h"
#include "worker/run/end_rules.h"

namespace rota::worker::run {

namespace {

/// What is the attempt's alone.
constexpr std::array<std::string_view, 4> kOnlyOfAttempts = {
    "ROTA_FD=", "ROTA_FACTS_FILE=", "ROTA_CHECKPOINT=", "ROTA_CHECKPOINT_FILE="};

bool is_of_attempt(const std::string& line) {
  return std::ranges::any_of(kOnlyOfAttempts,
                             [&](std::string_view start) { return line.starts_with(start); });
}

std::vector<std::string> words_of(const desk::Order& order) {
  return model::expanded_cleanup(order.work.cleanup, order.key.run, order.key.attempt, order.parameters);
}

}  // namespace

std::optional<warden::Start> plan_cleanup(const desk::Order& order, const warden::Start& command) {
  if (order.work.cleanup.empty()) return std::nullopt;
  warden::Start start;
  start.key = cleanup_key(order.key);
  start.argv = words_of(order);
  start.environment = command.environment;
  std::erase_if(start.environment, is_of_attempt);
  start.umask = command.umask;
  start.nice = command.nice;
  start.timeout = kCleanupLimit;
  start.kill_grace = kCleanupKillGrace;
  start.disconnect_grace = warden::kNoVoucherNeeded;
  start.may_start_unvouched = true;
  start.note = command.note;
  start.user = command.user;
  start.space = command.space;
  return start;
}

std::optional<std::string> trouble_with_cleanup(const desk::Order& order) {
  if (order.work.cleanup.empty()) return std::nullopt;
  const auto words = words_of(order);
  if (words.front().empty()) return "the program's name of its cleanup is empty";
  const auto has_nul = [](const std::string& word) { return word.find('\0') != std::string::npos; };
  if (std::ranges::any_of(words, has_nul)) return "a word of its cleanup holds a NUL byte";
  return std::nullopt;
}

void add_cleanup(model::Outcome& outcome, const warden::Ended& cleanup) {
  const model::Outcome own = outcome_of(cleanup, {});
  if (own.state == model::RunState::Succeeded) return;
  const std::string why = own.message.empty() ? std::string(name_of(own.state)) : own.message;
  const std::string before = outcome.message.empty() ? std::string() : ": " + outcome.message;
  if (outcome.state == model::RunState::KillFailed) {
    outcome.message = "cleanup failed: " + why + "; the attempt was not proven dead" + before;
    return;
  }
  outcome.message = "cleanup failed: " + why + "; the attempt itself had " +
                    (outcome.state == model::RunState::Succeeded ? "succeeded" : "ended ") +
                    (outcome.state == model::RunState::Succeeded ? "" : std::string(name_of(outcome.state))) +
                    before;
  outcome.state = model::RunState::KillFailed;
  outcome.reason = model::Reason::CleanupFailed;
}

std::string cleanup_mark(model::AttemptKey key) {
  return "\n[rota] cleanup of run " + std::to_string(key.run.value) + ", attempt " +
         std::to_string(key.attempt) + "\n";
}

}  // namespace rota::worker::run
