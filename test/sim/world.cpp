#include "world.h"

#include <cstdio>

#include "clients.h"
#include "faults.h"

namespace rota::sim {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

World::World(std::uint64_t seed, Marks& marks_in, bool verbose)
    : random(seed),
      marks(marks_in),
      store(random, marks_in),
      truth(store, marks_in),
      began_(clockwork.now()),
      verbose_(verbose) {
  const std::int64_t masters_wanted = 2 + random.below(2);
  for (std::int64_t i = 0; i < masters_wanted; ++i) {
    masters.push_back(std::make_unique<SimMaster>(*this, masters.size()));
  }
  const std::int64_t workers_wanted = 2 + random.below(3);
  for (std::int64_t i = 0; i < workers_wanted; ++i) {
    workers.push_back(std::make_unique<SimWorker>(
        *this, workers.size(), static_cast<std::int32_t>(1 + random.below(4))));
  }
  clients_ = std::make_unique<Clients>(*this);
  faults_ = std::make_unique<Faults>(*this);
}

World::~World() = default;

void World::trace(const char* what, const std::string& detail) {
  const auto mix = [this](const char* text) {
    for (; *text != '\0'; ++text) hash_ = (hash_ ^ static_cast<unsigned char>(*text)) * 1'099'511'628'211ull;
  };
  const std::string when = std::to_string((now() - began_).count());
  mix(when.c_str());
  mix(what);
  mix(detail.c_str());
  if (verbose_) std::fprintf(stderr, "%10.3f %s %s\n", static_cast<double>((now() - began_).count()) / 1e6, what, detail.c_str());
}

void World::violate(const std::string& what) {
  if (!what.empty() && violation_.empty()) violation_ = what;
}

void World::workers_changed() {
  for (auto& master : masters) master->watch_workers();
}

void World::zookeeper_tick() {
  after(50ms, [this] { zookeeper_tick(); });
  if (zookeeper.expire(now())) workers_changed();
  if (!zookeeper.up) return;
  for (auto& master : masters) master->look_at_election();
}

std::string World::run() {
  for (auto& master : masters) master->start();
  for (auto& worker : workers) worker->start_host();
  zookeeper_tick();
  clients_->begin();
  faults_->begin();
  if (!live_until(began_ + random.between(60s, 90s))) return violation_;
  faults_->heal();
  if (!live_until(now() + 15s)) return violation_;
  clients_->stop();
  for (int i = 0; i < 400 && !is_quiet(); ++i) {
    if (!live_until(now() + 5s)) return violation_;
  }
  for (const auto& master : masters) faults_->note_last_term(*master);
  return judge_end();
}

bool World::live_until(MonoTime end) {
  while (violation_.empty() && clockwork.step(end)) {
  }
  return violation_.empty();
}

bool World::is_quiet() const {
  for (const auto& [id, run] : store.runs()) {
    if (!model::is_final(run.progress.state)) return false;
  }
  for (const auto& worker : workers) {
    if (!worker->is_quiet()) return false;
  }
  return clients_->is_quiet();
}

std::string World::judge_end() const {
  for (const auto& [id, run] : store.runs()) {
    if (model::is_final(run.progress.state)) continue;
    return "run " + std::to_string(id.value) + " never ended: " +
           std::string(name_of(run.progress.state)) + ", " + std::string(name_of(run.progress.reason)) +
           " at " + run.progress.worker.id + "@" + run.progress.worker.incarnation;
  }
  if (!is_quiet()) return "the world does not come to rest";
  if (std::string wrong = store.judge_ticks(); !wrong.empty()) return wrong;
  if (std::string wrong = truth.judge_outcomes(); !wrong.empty()) return wrong;
  return clients_->judge();
}

void World::note_counters(const master::core::Snapshot& snapshot) {
  const auto& counters = snapshot.counters;
  marks.hit("attempt_adopted", counters.at("adopted"));
  marks.hit("attempt_proven_dead", counters.at("proven_dead"));
  marks.hit("attempt_given_up_at_fence", counters.at("redispatches"));
  marks.hit("attempt_resent_after_inventory", counters.at("resent"));
  marks.hit("report_repeated", counters.at("repeated_reports"));
}

}  // namespace rota::sim
