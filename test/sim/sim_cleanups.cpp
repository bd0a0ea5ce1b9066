// What a simulated worker does with the cleanups of its attempts: they run before the end is told, need no voucher,
// and are owed on the disk, so that they also follow a death of the warden or of the host.
#include "sim_worker.h"
#include "world.h"

namespace rota::sim {

using std::chrono_literals::operator""ms;

/// True: the attempt is held until its cleanup is over.
bool SimWorker::begin_cleanup(model::AttemptKey key, Process& process, const model::Outcome& outcome) {
  if (!process.has_cleanup) return false;
  process.is_cleaning = true;
  process.outcome = outcome;
  world_.marks.hit("cleanup_begun");
  clean_up(key, process.serial);
  return true;
}

void SimWorker::clean_up(model::AttemptKey key, std::int64_t serial) {
  Random dice(world_.recipe.seed, 4000 + static_cast<std::uint64_t>(serial));
  const Millis takes = dice.chance(80) ? dice.between(1ms, 300ms) : dice.between(300ms, 6000ms);
  world_.after(takes, [this, key, serial] { end_cleanup(key, serial); });
}

void SimWorker::end_cleanup(model::AttemptKey key, std::int64_t serial) {
  const auto found = processes_.find(key);
  if (found == processes_.end() || found->second.serial != serial || !found->second.is_cleaning) return;
  if (stands_still()) {
    world_.after(left_of_stillness(), [this, key, serial] { end_cleanup(key, serial); });
    return;
  }
  const Process process = std::move(found->second);
  processes_.erase(found);
  if (!process.is_released) world_.violate(world_.truth.end(key, world_.now()));
  model::Outcome outcome = process.outcome;
  Random dice(world_.recipe.seed, 5000 + static_cast<std::uint64_t>(serial));
  if (dice.chance(8)) {
    world_.marks.hit("cleanup_failed");
    outcome.state = model::RunState::KillFailed;
    outcome.reason = model::Reason::CleanupFailed;
  }
  tell_end(key, process.life, std::move(outcome));
}

/// Attempts that died with an earlier warden, or with the host.
void SimWorker::clean_up_behind_the_dead() {
  for (const auto& [key, life] : owed_) {
    if (processes_.contains(key) || untold_.contains(key)) continue;
    world_.marks.hit("cleaned_up_behind_the_dead");
    Process process;
    process.serial = ++serials_;
    process.started = clock_.wall();
    process.life = life;
    process.has_cleanup = process.is_cleaning = process.is_released = true;
    process.outcome.state = model::RunState::Lost;
    process.outcome.reason = model::Reason::AttemptDied;
    process.outcome.started = process.outcome.ended = process.started;
    clean_up(key, process.serial);
    processes_.emplace(key, std::move(process));
  }
}

/// Nothing of this run may start here meanwhile.
bool SimWorker::is_cleaning_up(RunId run) const {
  const auto first = processes_.lower_bound({run, 0});
  for (auto at = first; at != processes_.end() && at->first.run == run; ++at) {
    if (!at->second.is_cleaning) continue;
    world_.marks.hit("cleanup_keeps_its_run_away");
    return true;
  }
  return false;
}

}  // namespace rota::sim
