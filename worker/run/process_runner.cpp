// What the desk asks of the runner: how attempts with a process of their own start and end.
#include "worker/run/process_runner.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/log.h"
#include "worker/run/handler_facts.h"

namespace rota::worker::run {

using desk::EndReason;
using desk::Unfit;
using model::Refusal;

std::optional<Unfit> ProcessRunner::check(const desk::Order& order) const {
  const model::JobWork& work = order.work;
  if (work.handler != "command" && registry_.find(work.handler) == nullptr) {
    return Unfit{Refusal::UnknownHandler, "no handler '" + work.handler + "' in this worker"};
  }
  if (auto trouble = trouble_with(work)) return Unfit{Refusal::Malformed, std::move(*trouble)};
  if (auto trouble = trouble_with_cleanup(order)) return Unfit{Refusal::Malformed, std::move(*trouble)};
  if (is_cleaning_up(order.key.run)) {
    return Unfit{Refusal::NoSlot, "the cleanup of an earlier attempt of this run is under way here"};
  }
  if (work.run_as.empty()) return std::nullopt;
  const auto user = users_.find(work.run_as);
  return user ? std::nullopt : std::optional(Unfit{Refusal::Malformed, user.error().message});
}

Result<void> ProcessRunner::start(const desk::Envelope& envelope, const desk::Order& order) {
  if (model::has_own_process(order.work)) return start_process(envelope, order);
  start_handler(envelope, order, *registry_.find(order.work.handler));
  return {};
}

std::shared_ptr<ProcessRunner::Live> ProcessRunner::live_of(const desk::Envelope& envelope,
                                                            const desk::Order& order) const {
  auto live = std::make_shared<Live>();
  live->key = order.key;
  live->life = envelope.to;
  live->cap_bytes = order.work.output_cap_bytes;
  live->kill_grace = order.kill_grace;
  live->limits = order.work.limits;
  live->keep_folder = order.work.keep_folder;
  return live;
}

Result<void> ProcessRunner::start_process(const desk::Envelope& envelope, const desk::Order& order) {
  const bool is_handler = order.work.handler != "command";
  std::string brief;
  if (is_handler) {
    brief = encode_brief({facts_of(order, envelope.epoch, envelope.to), options_.lock_address});
  }
  auto place = make_work_place(folders_, users_, order, brief);
  if (!place) return fail(place.error());
  const auto live = live_of(envelope, order);
  live->place = std::move(*place);
  live->is_handler = is_handler;
  if (!live->place.script_file.empty()) live->interpreter = interpreter_of(order.work);
  const warden::Start command = plan_command(order, live->place, options_.environment, envelope.epoch,
                                             envelope.to, options_.program);
  if (auto noted = note_cleanup(*live, order, command); !noted) {
    give_back(*live, true);
    return fail(noted.error());
  }
  {
    std::scoped_lock lock(mutex_);
    live_.emplace(order.key, live);
  }
  const auto sent = warden_.start(command);
  if (sent) return {};
  remove(order.key, false);
  cleanups_.forget(order.key);
  give_back(*live, true);
  return fail(sent.error());
}

void ProcessRunner::end(model::AttemptKey key, EndReason why, std::optional<Millis> grace) {
  if (why == EndReason::Unvouched) return kill_unvouched(key);
  const auto by = why == EndReason::Cancelled ? warden::KilledBy::Cancel : warden::KilledBy::Stop;
  Millis wanted{0};
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    if (found == live_.end()) return;
    const Live& live = *found->second;
    wanted = grace.value_or(live.kill_grace);
    if (live.handler) {
      live.handler->cancel(by);
      deadlines_.emplace(clock_.mono() + wanted, Deadline{key, true});
      return;
    }
  }
  ask_warden_to_end(key, wanted, by);
}

void ProcessRunner::ask_warden_to_end(model::AttemptKey key, Millis grace, warden::KilledBy by) {
  if (auto told = warden_.kill(to_warden(key), grace, by); !told) {
    log_warn("run", "the warden could not be told to end an attempt",
             {{"run", key.run.value}, {"why", told.error().message}});
  }
}

/// The warden hangs and nobody vouches any more: this process ends what it can reach.
void ProcessRunner::kill_unvouched(model::AttemptKey key) {
  std::scoped_lock lock(mutex_);
  const auto found = live_.find(key);
  if (found == live_.end() || !found->second->pidfd.is_open() || found->second->main_end) return;
  Live& live = *found->second;
  if (!live.unvouched_at) live.unvouched_at = clock_.mono();
  ::syscall(SYS_pidfd_send_signal, live.pidfd.get(), SIGKILL, nullptr, 0);
}

/// Called by the sampler.
void ProcessRunner::kill_for_limit(model::AttemptKey key, const Excess& excess) {
  Millis grace{0};
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    if (found == live_.end()) return;
    Live& live = *found->second;
    if (live.excess.empty()) live.excess = excess.text;
    if (!excess.is_wild) grace = live.kill_grace;
  }
  log_warn("run", "an attempt is ended for its limits",
           {{"run", key.run.value}, {"why", excess.text}});
  // An older warden knows no limits; the excess in words then stays here, and dies with this life.
  ask_warden_to_end(key, grace, warden_version_ >= 2 ? excess.by : warden::KilledBy::Stop);
}

void ProcessRunner::vouch(MonoTime until) {
  if (auto told = warden_.vouch(until); !told) {
    log_warn("run", "the warden could not be told of a voucher", {{"why", told.error().message}});
  }
}

void ProcessRunner::outcomes_stored(const std::vector<model::AttemptKey>& keys) {
  std::vector<model::AttemptKey> forget;
  {
    std::scoped_lock lock(mutex_);
    for (const model::AttemptKey& key : keys) {
      if (to_forget_.erase(key) != 0) forget.push_back(key);
    }
  }
  for (const model::AttemptKey& key : forget) {
    // Not told: the warden tells of it again to the next life, which finds it in the outbox.
    if (cleanups_.forget(key)) (void)warden_.forget(cleanup_key(key));
    (void)warden_.forget(to_warden(key));
  }
}

void ProcessRunner::outcomes_acknowledged(const std::vector<model::AttemptKey>& keys) {
  for (const model::AttemptKey& key : keys) {
    spool_.outcome_acknowledged(key);
    progress_.forget(key);
  }
}

void ProcessRunner::give_back(const Live& live, bool is_dead) {
  clear_work_place(live.place);
  // A folder in which something may still live is left to the next start.
  if (!live.place.folder.empty() && is_dead) folders_.release(live.place.folder);
}

/// The outcome's words for a folder that was kept; empty: it was not.
std::string ProcessRunner::keep_or_give_back(const Live& live, bool is_dead, model::RunState state) {
  const bool is_wanted = live.keep_folder == model::KeepFolder::Always ||
                         (live.keep_folder == model::KeepFolder::OnFailure &&
                          state != model::RunState::Succeeded);
  if (live.place.folder.empty() || !is_dead || !is_wanted) {
    give_back(live, is_dead);
    return {};
  }
  const auto place = folders_.keep(live.place.folder, live.key);
  return place ? "its folder is kept as " + *place : place.error().message;
}

/// Null: it has ended, or was given up, before.
std::shared_ptr<ProcessRunner::Live> ProcessRunner::remove(model::AttemptKey key, bool is_held_by_warden) {
  std::scoped_lock lock(mutex_);
  const auto found = live_.find(key);
  if (found == live_.end()) return nullptr;
  std::shared_ptr<Live> live = std::move(found->second);
  live_.erase(found);
  if (is_held_by_warden) to_forget_.insert(key);
  return live;
}

void ProcessRunner::tell(model::AttemptKey key, Said said) {
  if (!said.percent && !said.checkpoint) return;
  model::RunNote note;
  note.run = key.run;
  note.attempt = key.attempt;
  note.said = clock_.wall();
  note.percent = said.percent;
  note.text = std::move(said.text);
  note.checkpoint = std::move(said.checkpoint);
  events_->said(std::move(note));
}

void ProcessRunner::post(std::function<void()> task) {
  {
    std::scoped_lock lock(mutex_);
    posted_.push_back(std::move(task));
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

}  // namespace rota::worker::run
