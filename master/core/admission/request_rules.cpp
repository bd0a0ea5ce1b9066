#include "master/core/admission/request_rules.h"

#include <utility>

#include "common/base/utf8.h"
#include "master/core/attempts/cancel_rules.h"
#include "master/core/batch_rows.h"
#include "master/core/admission/firing.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/admission/semaphore_rules.h"
#include "master/core/job_rules.h"

namespace rota::master::core {

namespace {

/// The answer to a key that this Term has seen; empty when it is new.
std::optional<Submitted::Item> repeat_of(const State& state, const std::string& principal,
                                         const std::string& key, const std::string& hash) {
  if (key.empty()) return std::nullopt;
  const auto seen = state.keys().find(principal, key, hash);
  if (!seen) return std::nullopt;
  Submitted::Item item;
  item.run = seen->run;
  item.repeated = true;
  if (!seen->has_same_hash) {
    item.error = Error(ErrorCode::Conflict, "the request key '" + shown_text(key) +
                                                "' was used before, with other content, for run " +
                                                std::to_string(item.run.value));
  }
  return item;
}

void remember_key(Context& ctx, const std::string& principal, const std::string& key,
                  const std::string& hash, RunId run) {
  if (key.empty()) return;
  const MonoTime until = ctx.now.mono + ctx.state.options().request_key_memory;
  ctx.state.keys().remember(principal, key, hash, run, until);
}

/// What is decided is stored, or its Term ends, within less than this.
constexpr Millis kStoredWithin{10'000};

/// Whether this Term has used none of these keys, as far as it does not remember them: it leads since before
/// they were seen not to stand in the store, and has forgotten nothing that may have been stored since.
bool remembers_since(const State& state, const UnusedKeys& unused) {
  if (unused.term != state.epoch()) return false;
  const MonoTime forgotten = state.keys().forgotten_until();
  if (forgotten == MonoTime::min()) return true;
  return forgotten - state.options().request_key_memory + kStoredWithin < unused.read_at;
}

Submitted::Item submit_one(Context& ctx, const SubmitItem& item, const std::string& principal) {
  if (auto repeat = repeat_of(ctx.state, principal, item.request_key, item.request_hash)) {
    return *repeat;
  }
  Submitted::Item refused;
  refused.error = why_no_uses(ctx.state, item.definition->space, item.definition->rules);
  if (!refused.error) refused.error = why_no_run(ctx.state, item.definition->space, ctx.at);
  if (refused.error) return refused;
  JobEntry& job = one_off_job(ctx, item, principal);
  Firing firing;
  firing.kind = model::RunKind::OneOff;
  firing.scheduled = ctx.at;
  firing.principal = principal;
  firing.request_key = item.request_key;
  firing.request_hash = item.request_hash;
  firing.parameters = item.parameters;
  Submitted::Item answer;
  answer.run = begin_run(ctx, job, firing, overlap_of(ctx.state, job, firing.kind));
  remember_key(ctx, principal, item.request_key, item.request_hash, answer.run);
  return answer;
}

std::string cancelled_by(const CancelRun& event) {
  return event.why.empty() ? "cancelled by " + event.principal
                           : "cancelled by " + event.principal + ": " + event.why;
}

}  // namespace

void handle_run_now(Context& ctx, const RunNow& event) {
  if (auto repeat = repeat_of(ctx.state, event.principal, event.request_key, event.request_hash)) {
    reply(ctx, event.token, Submitted{{*repeat}});
    return;
  }
  JobEntry* job = ctx.state.jobs().find_named(event.space, event.name);
  if (job == nullptr) {
    reply(ctx, event.token,
          Error(ErrorCode::NotFound,
                "no job '" + shown_text(event.space) + "/" + shown_text(event.name) + "'"));
    return;
  }
  if (const auto none = why_no_run(ctx.state, event.space, ctx.at)) return reply(ctx, event.token, *none);
  Firing firing;
  firing.kind = model::RunKind::Manual;
  firing.scheduled = ctx.at;
  firing.principal = event.principal;
  firing.request_key = event.request_key;
  firing.request_hash = event.request_hash;
  firing.parameters = event.parameters;
  Submitted::Item item;
  item.run = begin_run(ctx, *job, firing, overlap_of(ctx.state, *job, firing.kind));
  remember_key(ctx, event.principal, event.request_key, event.request_hash, item.run);
  reply(ctx, event.token, Submitted{{item}});
}

void handle_submit_runs(Context& ctx, const SubmitRuns& event) {
  if (event.unused && !remembers_since(ctx.state, *event.unused)) {
    reply(ctx, event.token, Error(ErrorCode::NotLeader, "the request keys must be looked up; ask again"));
    return;
  }
  Submitted all;
  all.items.reserve(event.items.size());
  make_room(ctx.out.changes.new_runs, event.items.size());
  for (const SubmitItem& item : event.items) {
    all.items.push_back(submit_one(ctx, item, event.principal));
  }
  reply(ctx, event.token, std::move(all));
}

void handle_cancel_run(Context& ctx, const CancelRun& event) {
  RunEntry* run = ctx.state.find_run(event.run);
  if (run == nullptr || model::is_final(run->progress().state)) {
    reply(ctx, event.token,
          Error(ErrorCode::Conflict, "run " + std::to_string(event.run.value) +
                                         " is not known or has ended already"));
    return;
  }
  cancel_run(ctx, *run, cancelled_by(event));
  reply(ctx, event.token, CancelTaken{run->progress().state});
}

}  // namespace rota::master::core
