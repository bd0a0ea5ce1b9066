// Semaphores: set, delete, and who holds their tokens.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/utf8.h"
#include "common/model/semaphore.h"
#include "common/wire/text_rules.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"

namespace rota::master::api {
namespace {

constexpr std::int32_t kMostSemaphoreRows = 10'000;

Result<core::SetSemaphore> accept_semaphore(const thrift::SemaphoreEdit& edit, const std::string& principal) {
  for (const auto& [key, text] : {std::pair{"namespace", edit.space}, std::pair{"name", edit.name}}) {
    if (wire::is_word(text) && text.size() <= model::kMaxSemaphoreName) continue;
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{}: {} must be 1 to {} letters, digits, '_', '-' or '.'", key, quoted_text(text),
                            model::kMaxSemaphoreName));
  }
  if (edit.count < 0 || edit.count > model::kMaxTokens) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("count: {} is out of range, allowed are 0 (closed) to {}", edit.count,
                            model::kMaxTokens));
  }
  core::SetSemaphore event{{}, principal, edit.space, edit.name, edit.count, {}};
  if (edit.__isset.expected_version) event.expected_version = edit.expected_version;
  return event;
}

thrift::SemaphoreInfo to_wire(const model::SemaphoreRow& row) {
  thrift::SemaphoreInfo out;
  out.__set_space(row.space);
  out.__set_name(row.name);
  out.__set_version(row.version);
  out.__set_count(row.count);
  out.__set_changed_ms(to_ms(row.changed));
  out.__set_changed_by(row.principal);
  return out;
}

/// What the leader knows of it; nothing of one that is not in use.
void add_use(thrift::SemaphoreInfo& out, const core::Snapshot& snapshot, bool with_runs) {
  const core::SemaphoreName name{out.space, out.name};
  const auto view = std::ranges::lower_bound(snapshot.semaphores, name, {}, &core::SemaphoreView::name);
  if (view == snapshot.semaphores.end() || view->name != name) return;
  out.__set_held(view->held);
  out.__set_waiting(view->waiting);
  for (const auto& holder : view->holders) {
    if (!with_runs) break;
    thrift::SemaphoreHolder& one = out.holders.emplace_back();
    one.__set_run(holder.run.value);
    one.__set_job(holder.job);
    one.__set_tokens(holder.tokens);
    one.__set_worker(holder.worker);
    one.__set_since_ms(to_ms(holder.since));
  }
  for (const auto& line : view->lines) {
    if (!with_runs) break;
    thrift::SemaphoreLine& one = out.lines.emplace_back();
    one.__set_run(line.next.value);
    one.__set_job(line.job);
    one.__set_tokens(line.tokens);
    one.__set_runs(line.runs);
  }
  out.__isset.holders = out.__isset.lines = with_runs;
}

thrift::SemaphoreEdited edited_semaphore(const core::ReplyBody& reply, const char* what) {
  const auto* applied = std::get_if<core::SemaphoreApplied>(&reply);
  if (applied == nullptr) throw rpc::to_wire(unexpected_reply());
  thrift::SemaphoreEdited out;
  out.__set_version(applied->version);
  out.__set_what(!applied->changed ? "unchanged" : applied->created ? "created" : what);
  return out;
}

}  // namespace

void JobServiceHandler::set_semaphore(const Caller& caller, thrift::SemaphoreEdited& out, const Head& head,
                                      const thrift::SemaphoreEdit& edit) {
  const MonoTime deadline = deadline_of(head);
  if (desk_.leads()) {
    auto event = value_or_throw(accept_semaphore(edit, caller.principal));
    out = edited_semaphore(value_or_throw(desk_.ask(std::move(event), deadline)), "changed");
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::SemaphoreEdited answer;
    client.set_semaphore(answer, onward, edit);
    return answer;
  }));
}

void JobServiceHandler::delete_semaphore(const Caller& caller, thrift::SemaphoreEdited& out, const Head& head,
                                         const std::string& space, const std::string& name) {
  const MonoTime deadline = deadline_of(head);
  if (desk_.leads()) {
    core::DeleteSemaphore event{{}, caller.principal, space, name};
    out = edited_semaphore(value_or_throw(desk_.ask(std::move(event), deadline)), "deleted");
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::SemaphoreEdited answer;
    client.delete_semaphore(answer, onward, space, name);
    return answer;
  }));
}

void JobServiceHandler::list_semaphores(const Caller& caller, std::vector<thrift::SemaphoreInfo>& out,
                                        const Head& head, const std::string& space, const std::string& prefix,
                                        std::int32_t limit) {
  const auto snapshot = parts_.leader.snapshot();
  if (!snapshot) {
    out = value_or_throw(pass_on(caller, head, deadline_of(head), [&](auto& client, const Head& onward) {
      std::vector<thrift::SemaphoreInfo> answer;
      client.list_semaphores(answer, onward, space, prefix, limit);
      return answer;
    }));
    return;
  }
  const std::int32_t most = limit <= 0 ? kMostSemaphoreRows : std::min(limit, kMostSemaphoreRows);
  for (const model::SemaphoreRow& row : value_or_throw(parts_.reader.list_semaphores(space, prefix, most))) {
    add_use(out.emplace_back(to_wire(row)), *snapshot, false);
  }
}

void JobServiceHandler::get_semaphore(const Caller& caller, thrift::SemaphoreInfo& out, const Head& head,
                                      const std::string& space, const std::string& name) {
  const auto snapshot = parts_.leader.snapshot();
  if (!snapshot) {
    out = value_or_throw(pass_on(caller, head, deadline_of(head), [&](auto& client, const Head& onward) {
      thrift::SemaphoreInfo answer;
      client.get_semaphore(answer, onward, space, name);
      return answer;
    }));
    return;
  }
  const auto rows = value_or_throw(parts_.reader.semaphore_versions(space, name));
  if (rows.empty() || rows.back().deleted) {
    throw rpc::to_wire(
        Error(ErrorCode::NotFound,
              fmt::format("no semaphore {} in namespace {}", quoted_text(name), quoted_text(space))));
  }
  out = to_wire(rows.back());
  add_use(out, *snapshot, true);
}

}  // namespace rota::master::api
