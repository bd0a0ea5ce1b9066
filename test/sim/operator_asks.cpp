// What the operator asks of a simulated cluster: drains, freezes, confirmed deaths.
#include <set>
#include <string>

#include "clients.h"
#include "world.h"

namespace rota::sim {

using master::core::ReplyBody;
using std::chrono_literals::operator""ms;

void Clients::drain() {
  const auto worker = static_cast<std::size_t>(world_.random.below(static_cast<std::int64_t>(world_.workers.size())));
  const bool draining = world_.random.chance(50);
  const Millis deadline = world_.random.chance(50) ? world_.random.between(300ms, 5000ms) : 0ms;
  ask_drain(worker, draining, deadline);
}

void Clients::ask_drain(std::size_t worker, bool draining, Millis deadline) {
  const std::string id = world_.workers[worker]->id();
  ask(
      [id, draining, deadline](Token token) -> master::core::Event {
        return master::core::DrainWorker{token, "sim", id, draining, deadline, "sim"};
      },
      [this, worker, draining](const ReplyBody& body) {
        if (const auto* taken = std::get_if<master::core::DrainTaken>(&body)) {
          if (taken->changed) world_.marks.hit(draining ? "worker_drained" : "worker_resumed");
          return;
        }
        // In the end all workers work again, even if some did not get the message.
        const auto* error = std::get_if<Error>(&body);
        if (!stopped_ || draining || error == nullptr || error->code == ErrorCode::NotFound) return;
        world_.after(300ms, [this, worker] { ask_drain(worker, false, 0ms); });
      });
}

/// For a few seconds, unless somebody ends it before.
void Clients::freeze() {
  const bool ends = world_.random.chance(40);
  const WallTime until = world_.clockwork.true_wall() + world_.random.between(1000ms, 12'000ms);
  ask(
      [ends, until](Token token) -> master::core::Event {
        if (ends) return master::core::EndFreeze{token, "sim", ""};
        return master::core::BeginFreeze{token, "sim", "", until, "sim"};
      },
      [this, ends](const ReplyBody& body) {
        if (std::get_if<master::core::FreezeTaken>(&body) != nullptr) {
          world_.marks.hit(ends ? "freeze_ended" : "frozen");
        }
      });
}

/// The operator confirms a worker as dead, whether it is dead or not. The confirmation is for an id, and so for
/// every host that has come up with that id.
void Clients::confirm_dead(std::size_t worker) {
  const std::string id = world_.workers[worker]->id();
  ask(
      [this, id](Token token) -> master::core::Event {
        for (std::size_t host = 0; host < world_.workers.size(); ++host) {
          if (world_.workers[host]->id() == id) world_.truth.note_confirmed(host);
        }
        return master::core::ConfirmDead{token, "sim", id, "sim", false};
      },
      [this](const ReplyBody& body) {
        if (const auto* taken = std::get_if<master::core::DeathTaken>(&body)) {
          if (taken->changed) world_.marks.hit("death_confirmed");
          return;
        }
        const auto* error = std::get_if<Error>(&body);
        if (error != nullptr && error->code == ErrorCode::Conflict) world_.marks.hit("living_worker_not_confirmed");
      });
}

/// In the end the operator handles everything that waits for a confirmation.
void Clients::confirm_what_waits() {
  std::set<std::string> ids;
  for (const auto& [id, run] : world_.store.runs()) {
    if (model::is_final(run.progress.state)) continue;
    if (run.progress.reason == model::Reason::WaitsForConfirmation) ids.insert(run.progress.worker.id);
  }
  for (std::size_t worker = 0; worker < world_.workers.size(); ++worker) {
    if (ids.erase(world_.workers[worker]->id()) == 0) continue;
    confirm_dead(worker);
  }
  world_.after(1000ms, [this] { confirm_what_waits(); });
}

}  // namespace rota::sim
