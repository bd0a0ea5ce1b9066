// The methods that change something. They check their input; the loop decides.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/utf8.h"
#include "common/wire/content_hash.h"
#include "common/wire/definition_rules.h"
#include "common/wire/job_wire.h"
#include "master/api/calendar_intake.h"
#include "master/api/definition_intake.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"

namespace rota::master::api {
namespace {

constexpr std::size_t kMostAtOnce = 1000;

Result<void> check_count(std::size_t count) {
  if (count <= kMostAtOnce) return {};
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{} items at once, at most {} are allowed; send them in parts", count,
                          kMostAtOnce));
}

Error key_conflict(const std::string& key) {
  return Error(ErrorCode::Conflict,
               fmt::format("request_key: {} was used before with other content; choose another",
                           quoted_text(key)));
}

thrift::SubmitResult result_of(const core::Submitted::Item& item) {
  thrift::SubmitResult out;
  out.__set_run(item.run.value);
  out.__set_repeated(item.repeated);
  if (item.error) out.__set_error(rpc::to_wire(*item.error));
  return out;
}

thrift::SubmitResult failed(const rpc::CallError& error) {
  thrift::SubmitResult out;
  out.__set_error(rpc::to_wire(error));
  return out;
}

thrift::JobEdited failed_edit(const rpc::CallError& error) {
  thrift::JobEdited out;
  out.__set_error(rpc::to_wire(error));
  return out;
}

rpc::CallError as_call_error(const Error& error) { return {error, {}, Millis{0}, false, true}; }

thrift::SubmitResult repeat_of(const store::KeyedRun& used, const core::SubmitItem& item) {
  if (used.request_hash != item.request_hash) {
    return failed(as_call_error(key_conflict(item.request_key)));
  }
  thrift::SubmitResult out;
  out.__set_run(used.run.value);
  out.__set_repeated(true);
  return out;
}

thrift::JobEdited edited(const core::JobApplied& applied) {
  thrift::JobEdited out;
  out.__set_id(applied.job.value);
  out.__set_version(applied.version);
  out.__set_what(!applied.changed ? "unchanged" : applied.version == 1 ? "created" : "changed");
  return out;
}

}  // namespace

MonoTime JobServiceHandler::deadline_of(const Head& head) const {
  const bool given = head.__isset.deadline_ms && head.deadline_ms > 0;
  const Millis wanted = given ? Millis{head.deadline_ms} : options_.default_deadline;
  return BootClock::now() + std::min(wanted, options_.max_deadline);
}

void JobServiceHandler::submit(const Caller& caller, thrift::SubmitResult& out, const Head& head,
                               const thrift::SubmitItem& item) {
  const MonoTime deadline = deadline_of(head);
  if (!desk_.leads()) {
    out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
      thrift::SubmitResult answer;
      client.submit(answer, onward, item);
      return answer;
    }));
    return;
  }
  Submitted results = value_or_throw(submit_here(caller, {item}, deadline));
  if (results.front().__isset.error) throw results.front().error;
  out = std::move(results.front());
}

void JobServiceHandler::submit_many(const Caller& caller, std::vector<thrift::SubmitResult>& out,
                                    const Head& head,
                                    const std::vector<thrift::SubmitItem>& items) {
  const MonoTime deadline = deadline_of(head);
  value_or_throw(check_count(items.size()));
  if (desk_.leads()) {
    out = value_or_throw(submit_here(caller, items, deadline));
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    Submitted answer;
    client.submit_many(answer, onward, items);
    return answer;
  }));
}

rpc::CallResult<JobServiceHandler::Submitted> JobServiceHandler::submit_here(
    const Caller& caller, const std::vector<thrift::SubmitItem>& items, MonoTime deadline) {
  Submitted out(items.size());
  core::SubmitRuns event;
  event.principal = caller.principal;
  std::vector<std::size_t> places;  // of the items that go into the loop
  SubmitIntake intake;
  event.items.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto item = intake.accept(items[i]);
    if (!item) {
      out[i] = failed(as_call_error(item.error()));
      continue;
    }
    places.push_back(i);
    event.items.push_back(std::move(*item));
  }
  answer_repeats(event, places, out);
  if (places.empty()) return out;
  const bool is_vouched = event.unused.has_value();
  const auto reply = desk_.ask(std::move(event), deadline);
  const bool is_refused = !reply && reply.error().error.code == ErrorCode::NotLeader;
  if (is_refused && is_vouched && desk_.leads()) floors_.distrust(BootClock::now());
  if (!reply) return tl::unexpected<rpc::CallError>(reply.error());
  const auto* submitted = std::get_if<core::Submitted>(&*reply);
  if (submitted == nullptr || submitted->items.size() != places.size()) {
    return tl::unexpected<rpc::CallError>(as_call_error(unexpected_reply()));
  }
  for (std::size_t i = 0; i < places.size(); ++i) out[places[i]] = result_of(submitted->items[i]);
  return out;
}

/// Answers the items whose key was used before, and removes them from the event and from `places`.
void JobServiceHandler::answer_repeats(core::SubmitRuns& event, std::vector<std::size_t>& places,
                                       Submitted& out) {
  std::vector<core::SubmitItem>& items = event.items;
  std::vector<std::string> keys;
  for (const core::SubmitItem& item : items) {
    if (!item.request_key.empty()) keys.push_back(item.request_key);
  }
  if (keys.empty()) return;
  if (const auto term = desk_.term()) {
    event.unused = floors_.vouch(*term, event.principal, keys, BootClock::now());
    if (event.unused) return;
  }
  const auto before = parts_.reader.runs_of_keys(event.principal, keys);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const core::SubmitItem& item = items[i];
    if (!item.request_key.empty() && !before) {
      out[places[i]] = failed(as_call_error(before.error()));
      continue;
    }
    if (before && before->contains(item.request_key)) {
      out[places[i]] = repeat_of(before->at(item.request_key), item);
      continue;
    }
    places[kept] = places[i];
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  items.resize(kept);
  places.resize(kept);
}

Result<std::optional<thrift::SubmitResult>> JobServiceHandler::used_before(
    const Caller& caller, const std::string& key, const std::string& hash) {
  using Answer = std::optional<thrift::SubmitResult>;
  if (key.empty()) return Answer{};
  std::string stored;
  const auto run = parts_.reader.run_of_key(caller.principal, key, &stored);
  if (!run) return fail(run.error());
  if (!*run) return Answer{};
  if (stored != hash) return fail(key_conflict(key));
  thrift::SubmitResult repeated;
  repeated.__set_run((*run)->value);
  repeated.__set_repeated(true);
  return Answer{std::move(repeated)};
}

void JobServiceHandler::run_now(const Caller& caller, thrift::SubmitResult& out, const Head& head,
                                const std::string& space, const std::string& name,
                                const std::map<std::string, std::string>& parameters,
                                const std::string& request_key) {
  const MonoTime deadline = deadline_of(head);
  if (!desk_.leads()) {
    out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
      thrift::SubmitResult answer;
      client.run_now(answer, onward, space, name, parameters, request_key);
      return answer;
    }));
    return;
  }
  value_or_throw(wire::validate_parameters(parameters));
  value_or_throw(wire::validate_request_key(request_key));
  core::RunNow event;
  event.principal = caller.principal;
  event.space = space;
  event.name = name;
  event.request_key = request_key;
  if (!request_key.empty()) event.request_hash = wire::run_now_hash(space, name, parameters);
  if (!parameters.empty()) event.parameters = std::make_shared<model::Parameters>(parameters);
  if (auto before = value_or_throw(used_before(caller, request_key, event.request_hash))) {
    out = std::move(*before);
    return;
  }
  const auto reply = value_or_throw(desk_.ask(std::move(event), deadline));
  const auto* submitted = std::get_if<core::Submitted>(&reply);
  if (submitted == nullptr || submitted->items.empty()) throw rpc::to_wire(unexpected_reply());
  out = result_of(submitted->items.front());
  if (out.__isset.error) throw out.error;
}

void JobServiceHandler::apply_jobs(const Caller& caller, std::vector<thrift::JobEdited>& out,
                                   const Head& head, const std::vector<thrift::JobEdit>& edits,
                                   bool dry_run) {
  const MonoTime deadline = deadline_of(head);
  value_or_throw(check_count(edits.size()));
  if (dry_run || desk_.leads()) {
    out = apply_here(caller, edits, dry_run, deadline);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    std::vector<thrift::JobEdited> answer;
    client.apply_jobs(answer, onward, edits, dry_run);
    return answer;
  }));
}

// Posts all edits before it waits for the first answer, so that the loop stores them in one batch.
std::vector<thrift::JobEdited> JobServiceHandler::apply_here(
    const Caller& caller, const std::vector<thrift::JobEdit>& edits, bool dry_run, MonoTime deadline) {
  std::vector<thrift::JobEdited> out(edits.size());
  std::vector<std::pair<std::size_t, Token>> waiting;
  StoredCalendars calendars(parts_.reader);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    for (const auto& planned : edits[i].planned_calendars) {
      if (dry_run) calendars.add_planned(planned);
    }
    std::vector<std::string> problems;
    auto event = accept_edit(edits[i], caller.principal, calendars.in(edits[i].definition.space),
                             parts_.clock.wall(), &problems);
    if (!event && calendars.trouble()) {
      out[i] = failed_edit(as_call_error(*calendars.trouble()));
    } else if (!event) {
      out[i] = failed_edit(as_call_error(event.error()));
      if (!problems.empty()) out[i].__set_problems(std::move(problems));
    } else if (dry_run) {
      auto plan = plan_edit(*event);
      out[i] = plan ? *plan : failed_edit(as_call_error(plan.error()));
    } else if (auto token = desk_.post(std::move(*event)); token) {
      waiting.emplace_back(i, *token);
    } else {
      out[i] = failed_edit(token.error());
    }
  }
  for (const auto& [place, token] : waiting) {
    const auto reply = desk_.wait(token, deadline);
    if (!reply) {
      out[place] = failed_edit(reply.error());
    } else if (const auto* applied = std::get_if<core::JobApplied>(&*reply)) {
      out[place] = edited(*applied);
    } else {
      out[place] = failed_edit(as_call_error(unexpected_reply()));
    }
  }
  return out;
}

Result<thrift::JobEdited> JobServiceHandler::plan_edit(const core::ApplyJob& event) {
  const auto stored = parts_.reader.get_job(event.definition->space, event.definition->name);
  const bool is_new = !stored || stored->job.state == model::JobState::Deleted;
  if (!stored && stored.error().code != ErrorCode::NotFound) return fail(stored.error());
  const JobVersion stands = is_new ? 0 : stored->job.version;
  if (event.expected_version && *event.expected_version != stands) {
    return fail(ErrorCode::Conflict,
                fmt::format("job {} is at version {}, the edit was made from version {}; read it "
                            "again", quoted_text(event.definition->name), stands, *event.expected_version));
  }
  const bool same = !is_new && stored->version.definition &&
                    *stored->version.definition == *event.definition;
  thrift::JobEdited out;
  out.__set_id(is_new ? 0 : stored->job.id.value);
  out.__set_version(same ? stands : stands + 1);
  out.__set_what(same ? "unchanged" : is_new ? "created" : "changed");
  return out;
}

template <typename Event>
thrift::JobEdited JobServiceHandler::change_job(const Caller& caller, Event event, const char* done,
                                               MonoTime deadline) {
  event.principal = caller.principal;
  const auto reply = value_or_throw(desk_.ask(std::move(event), deadline));
  const auto* applied = std::get_if<core::JobApplied>(&reply);
  if (applied == nullptr) throw rpc::to_wire(unexpected_reply());
  thrift::JobEdited out = edited(*applied);
  out.__set_what(applied->changed ? done : "unchanged");
  return out;
}

void JobServiceHandler::set_paused(const Caller& caller, thrift::JobEdited& out, const Head& head,
                                   const std::string& space, const std::string& name, bool paused,
                                   const std::string& why) {
  const MonoTime deadline = deadline_of(head);
  if (desk_.leads()) {
    core::SetPaused event;
    event.space = space;
    event.name = name;
    event.paused = paused;
    event.why = cut_text(why, kMaxWhyBytes);
    out = change_job(caller, std::move(event), "changed", deadline);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::JobEdited answer;
    client.set_paused(answer, onward, space, name, paused, why);
    return answer;
  }));
}

void JobServiceHandler::delete_job(const Caller& caller, thrift::JobEdited& out, const Head& head,
                                   const std::string& space, const std::string& name,
                                   const std::string& why) {
  const MonoTime deadline = deadline_of(head);
  if (desk_.leads()) {
    core::DeleteJob event;
    event.space = space;
    event.name = name;
    event.why = cut_text(why, kMaxWhyBytes);
    out = change_job(caller, std::move(event), "changed", deadline);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::JobEdited answer;
    client.delete_job(answer, onward, space, name, why);
    return answer;
  }));
}

void JobServiceHandler::cancel_run(const Caller& caller, std::string& out, const Head& head,
                                   std::int64_t run, const std::string& why) {
  const MonoTime deadline = deadline_of(head);
  if (!desk_.leads()) {
    out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
      std::string answer;
      client.cancel_run(answer, onward, run, why);
      return answer;
    }));
    return;
  }
  core::CancelRun event;
  event.principal = caller.principal;
  event.run = RunId{run};
  event.why = cut_text(why, kMaxWhyBytes);
  auto reply = desk_.ask(std::move(event), deadline);
  if (!reply) {
    reply.error().error = why_not_cancelled(run, reply.error().error);
    throw rpc::to_wire(reply.error());
  }
  const auto* taken = std::get_if<core::CancelTaken>(&*reply);
  if (taken == nullptr) throw rpc::to_wire(unexpected_reply());
  out = std::string(model::name_of(taken->state));
}

// The loop forgets final runs. The store knows whether a run has ended or never existed.
Error JobServiceHandler::why_not_cancelled(std::int64_t run, const Error& answer) {
  if (answer.code != ErrorCode::Conflict) return answer;
  const auto row = parts_.reader.get_run(RunId{run});
  if (!row && row.error().code == ErrorCode::NotFound) return row.error();
  if (!row || !model::is_final(row->run.progress.state)) return answer;
  return Error(ErrorCode::Conflict, fmt::format("run {} has ended already: {}", run,
                                                model::name_of(row->run.progress.state)));
}

}  // namespace rota::master::api
