// What runs behind an attempt whose job has a `cleanup`. The attempt stays held, with slot and folder,
// until the cleanup has ended; only then is its end told. All on the loop's thread, except where it says so.
//
//
// Whoever dies in between: a later life finds the note, and what the warden holds. An attempt that the warden
// does not know any more died with an earlier warden; its cleanup runs then.
#include "common/base/log.h"
#include "worker/run/process_runner.h"

namespace rota::worker::run {

/// Any thread.
Result<void> ProcessRunner::note_cleanup(Live& live, const desk::Order& order, const warden::Start& command) {
  live.cleanup = plan_cleanup(order, command);
  if (!live.cleanup) return {};
  return cleanups_.write(live.key, {clock_.wall(), *live.cleanup});
}

/// Any thread. An attempt of that run has ended here, and its cleanup has not.
bool ProcessRunner::is_cleaning_up(RunId run) const {
  std::scoped_lock lock(mutex_);
  const auto first = live_.lower_bound({run, 0});
  for (auto at = first; at != live_.end() && at->first.run == run; ++at) {
    if (at->second->main_end) return true;
  }
  return false;
}

/// True: the attempt is not over yet.
bool ProcessRunner::begin_cleanup(const warden::Ended& ended) {
  const model::AttemptKey key = from_warden(ended.key);
  std::shared_ptr<Live> live;
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    if (found == live_.end() || !found->second->cleanup) return false;
    live = found->second;
    const bool is_told_again = live->main_end.has_value();
    // A set that is seen empty late is told once more.
    if (!is_told_again || ended.proven_empty) live->main_end = ended;
    if (is_told_again) return true;
    if (ended.failed_step == warden::StartStep::Refused) live->main_end.reset();
  }
  if (ended.failed_step == warden::StartStep::Refused) {  // nothing was started, so nothing is left behind
    cleanups_.forget(key);
    return false;
  }
  start_cleanup(*live);
  return true;
}

void ProcessRunner::start_cleanup(const Live& live) {
  if (auto held = held_cleanups_.extract(live.key)) return on_cleanup_held(std::move(held.mapped()));
  const auto sent = warden_.start(*live.cleanup);
  if (sent) return;
  warden::Ended failed;
  failed.key = live.cleanup->key;
  failed.failed_step = warden::StartStep::Refused;
  failed.detail = "the warden could not be asked to start it: " + sent.error().message;
  on_cleanup_ended(failed);
}

void ProcessRunner::on_cleanup_started(warden::Started started) {
  const model::AttemptKey key = attempt_of(started.key);
  std::int64_t cap_bytes = 0;
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    if (found == live_.end() || !found->second->main_end) return;
    cap_bytes = found->second->cap_bytes;
  }
  const std::string mark = cleanup_mark(key);
  output_.follow({key, 1}, std::move(started.out), cap_bytes, mark, clock_.mono());
  output_.follow({key, 2}, std::move(started.err), cap_bytes, mark, clock_.mono());
}

/// Of an earlier life. It waits for its attempt, of which the warden may tell after it.
void ProcessRunner::on_cleanup_held(warden::Held held) {
  const model::AttemptKey key = attempt_of(held.running.key);
  bool is_awaited = false;
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    is_awaited = found != live_.end() && found->second->main_end;
  }
  if (!is_awaited) {
    held_cleanups_.insert_or_assign(key, std::move(held));
    return;
  }
  const auto end = std::move(held.end);
  on_cleanup_started(std::move(held.running));
  if (end) on_cleanup_ended(*end);
}

void ProcessRunner::on_cleanup_ended(const warden::Ended& ended) {
  const model::AttemptKey key = attempt_of(ended.key);
  std::optional<warden::Ended> main_end;
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    if (found != live_.end()) main_end = found->second->main_end;
  }
  if (!main_end) return;  // told again; its outcome is under way
  const bool is_clean = ended.failed_step == warden::StartStep::None && ended.exit_status == 0 &&
                        ended.killed_by == warden::KilledBy::None && ended.proven_empty;
  if (!is_clean) log_warn("run", "the cleanup of an attempt failed", {{"run", key.run.value}});
  finish_process(*main_end, &ended);
}

/// Attempts of which only their notes are left: their warden died, and they with it.
void ProcessRunner::clean_up_behind_the_dead(const std::set<model::AttemptKey>& unreported) {
  for (const model::AttemptKey& key : cleanups_.keys()) {
    {
      std::scoped_lock lock(mutex_);
      if (live_.contains(key)) continue;
    }
    const auto note = cleanups_.find(key);
    AttemptNote of_attempt;
    if (auto read = decode_note(note->start.note)) of_attempt = *read;
    // Its outcome is safe, which is after its cleanup.
    const desk::Adopted died{key, of_attempt.life, note->accepted, Millis{0}, of_attempt.demand};
    if (unreported.contains(key) || !events_->adopted(died)) {
      cleanups_.forget(key);
      (void)warden_.forget(cleanup_key(key));
      continue;
    }
    log_info("run", "cleans up behind an attempt that died with its warden", {{"run", key.run.value}});
    of_attempt.folder.clear();  // it goes with those of earlier lives
    const auto live = live_of_note(key, of_attempt);
    {
      std::scoped_lock lock(mutex_);
      live_.emplace(key, live);
    }
    warden::Ended end;
    end.key = to_warden(key);
    end.killed_by = warden::KilledBy::Stop;
    end.proven_empty = true;
    end.started_wall = note->accepted;
    end.ended_wall = clock_.wall();
    begin_cleanup(end);
  }
  for (const auto& [key, held] : held_cleanups_) (void)warden_.forget(held.running.key);
  held_cleanups_.clear();
}

}  // namespace rota::worker::run
