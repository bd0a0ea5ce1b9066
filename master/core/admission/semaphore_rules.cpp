#include "master/core/admission/semaphore_rules.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/utf8.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/notices.h"

namespace rota::master::core {
namespace {

constexpr std::size_t kHoldersTold = 5;
constexpr std::size_t kUsersTold = 5;

void refuse_semaphore(Context& ctx, Token token, ErrorCode code, std::string message) {
  reply(ctx, token, Error(code, std::move(message)));
}

std::string semaphore_named(const SemaphoreName& name) {
  return "semaphore '" + shown_text(name.first) + "/" + shown_text(name.second) + "'";
}

bool refuse_stale_semaphore(Context& ctx, const SetSemaphore& event, std::int32_t present) {
  if (!event.expected_version || *event.expected_version == present) return false;
  std::string words = semaphore_named({event.space, event.name});
  words += present == 0 ? " does not exist" : fmt::format(" has version {}", present);
  words += fmt::format(", the change was made from version {}", *event.expected_version);
  if (present != 0) words += "; read it again (rota semaphore show)";
  refuse_semaphore(ctx, event.token, ErrorCode::Conflict, std::move(words));
  return true;
}

void store_semaphore(Context& ctx, model::SemaphoreRow row, std::string_view sentence) {
  row.number = ctx.state.new_semaphore_number();
  tell(ctx, sentence, {{"semaphore", row.space + "/" + row.name},
                       {"count", std::to_string(row.count)},
                       {"version", std::to_string(row.version)},
                       {"by", row.principal}});
  ctx.out.changes.semaphores.push_back(row);
  ctx.state.tokens().put(std::move(row));
}

std::string names_of_jobs(const State& state, const IdSet<JobId>& jobs) {
  std::string names;
  std::size_t told = 0;
  for (auto at = jobs.begin(); at != jobs.end() && told < kUsersTold; ++at, ++told) {
    names += (told == 0 ? "" : ", ") + state.find_job(*at)->row.name;
  }
  return jobs.size() > told ? fmt::format("{} and {} more", names, jobs.size() - told) : names;
}

/// True when it was refused.
bool refuse_semaphore_in_use(Context& ctx, const DeleteSemaphore& event, const TokenTable::Entry& entry) {
  const SemaphoreName name{event.space, event.name};
  const IdSet<JobId>& users = ctx.state.jobs().users_of_semaphore(event.space, event.name);
  if (!users.empty()) {
    refuse_semaphore(ctx, event.token, ErrorCode::Conflict,
                     fmt::format("{} is used by {} job{}: {}; take it out of their uses first",
                                 semaphore_named(name), users.size(), users.size() == 1 ? "" : "s",
                                 names_of_jobs(ctx.state, users)));
    return true;
  }
  if (entry.held() == 0 && entry.waiting().empty()) return false;
  refuse_semaphore(ctx, event.token, ErrorCode::Conflict,
                   fmt::format("{}: runs hold {} of its tokens, or wait for one; let them end or cancel them "
                               "first (rota semaphore show)",
                               semaphore_named(name), entry.held()));
  return true;
}

std::string holders_in_words(const TokenTable::Entry& entry) {
  std::string words;
  std::size_t told = 0;
  for (const auto& [run, count] : entry.holders()) {
    if (told == kHoldersTold) break;
    words += (told++ == 0 ? "" : ", ") + std::to_string(run.value);
    if (count > 1) words += fmt::format(" ({})", count);
  }
  const std::size_t all = entry.holders().size();
  const std::string more = all > told ? fmt::format(" and {} more", all - told) : "";
  return fmt::format("{} {}{}", all == 1 ? "run" : "runs", words, more);
}

}  // namespace

void handle_set_semaphore(Context& ctx, const SetSemaphore& event) {
  TokenTable& tokens = ctx.state.tokens();
  const SemaphoreName name{event.space, event.name};
  const TokenTable::Entry* entry = tokens.find(name);
  if (refuse_stale_semaphore(ctx, event, entry == nullptr ? 0 : entry->newest().version)) return;
  if (entry != nullptr && entry->newest().count == event.count) {
    return reply(ctx, event.token, SemaphoreApplied{entry->newest().version, false, false});
  }
  if (entry == nullptr && tokens.size() >= kMostSemaphores) {
    return refuse_semaphore(ctx, event.token, ErrorCode::InvalidArgument,
                            fmt::format("there are {} semaphores; delete one first", kMostSemaphores));
  }
  model::SemaphoreRow row;
  row.space = event.space;
  row.name = event.name;
  row.version = tokens.last_version(name) + 1;
  row.count = event.count;
  row.changed = ctx.at;
  row.principal = event.principal;
  const SemaphoreApplied applied{row.version, true, entry == nullptr};
  store_semaphore(ctx, std::move(row), applied.created ? "semaphore created" : "semaphore changed");
  reply(ctx, event.token, applied);
}

void handle_delete_semaphore(Context& ctx, const DeleteSemaphore& event) {
  const TokenTable::Entry* entry = ctx.state.tokens().find({event.space, event.name});
  if (entry == nullptr) {
    return refuse_semaphore(ctx, event.token, ErrorCode::NotFound,
                            "no " + semaphore_named({event.space, event.name}));
  }
  if (refuse_semaphore_in_use(ctx, event, *entry)) return;
  model::SemaphoreRow row = entry->newest();
  ++row.version;
  row.changed = ctx.at;
  row.principal = event.principal;
  row.deleted = true;
  const SemaphoreApplied applied{row.version, true, false};
  store_semaphore(ctx, std::move(row), "semaphore deleted");
  reply(ctx, event.token, applied);
}

std::optional<Error> why_no_uses(const State& state, const std::string& space, const model::JobRules& rules) {
  for (const auto& [name, wanted] : rules.uses) {
    const TokenTable::Entry* entry = state.tokens().find({space, name});
    if (entry == nullptr) {
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("uses: there is no semaphore {} in namespace {}; make it first: "
                               "rota semaphore set {} COUNT",
                               quoted_text(name), quoted_text(space), shown_text(name)));
    }
    if (entry->newest().count < wanted && entry->newest().count > 0) {
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("uses: {} tokens of semaphore {} are more than it has ({}); no run could ever "
                               "start",
                               wanted, quoted_text(name), entry->newest().count));
    }
  }
  return std::nullopt;
}

bool gets_tokens(State& state, const SlotQueueKey& queue) {
  while (!state.tokens().ask(queue)) {
    const SlotQueueKey* before = state.tokens().before(queue);
    if (before == nullptr) return false;
    if (state.workers().may_serve(*before) && !is_held_back(state, *before)) return false;
    state.tokens().step_back(*before);
  }
  return true;
}

std::string token_words(const State& state, const SlotQueueKey& queue) {
  const SemaphoreName* name = state.tokens().lacking(queue);
  if (name == nullptr) return {};
  const TokenTable::Entry* entry = state.tokens().find(*name);
  const std::int32_t wanted = queue.uses.at(*name);
  if (entry == nullptr) {
    return fmt::format("semaphore {} was deleted; make it again (rota semaphore set)", name->second);
  }
  const std::int32_t count = entry->newest().count;
  if (count == 0) {
    return fmt::format("semaphore {} is closed (count 0); rota semaphore set opens it", name->second);
  }
  if (count < wanted) {
    return fmt::format("it takes {} tokens of semaphore {}, which has {}", wanted, name->second, count);
  }
  std::string words =
      fmt::format("semaphore {}: {} of {} tokens are held", name->second, entry->held(), count);
  if (!entry->holders().empty()) words += " by " + holders_in_words(*entry);
  if (wanted > 1) words += fmt::format("; it takes {} at once", wanted);
  const std::size_t before = state.tokens().lines_before(queue, *name);
  if (before > 0) words += fmt::format("; {} before it in line", before);
  return words;
}

}  // namespace rota::master::core
