#include "world.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include "clients.h"
#include "faults.h"
#include "master/verify/verify.h"
#include "sim_zones.h"
#include "worker_node.h"

namespace rota::sim {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

namespace {
/// How old an idle leader's watermark may be, plus how far off a clock may be.
constexpr Millis kWatermarkLag{14'000};
constexpr Millis kClockTolerance{3000};
/// In units of five seconds: a world in which nothing starts for this long stands still.
constexpr int kRoundsWithoutStart = 40;
/// Promises that verification judges by comparing the clocks of several hosts.
const std::set<std::string> kByClocks = {"P4", "P6", "P7", "P41", "P42", "P48"};
}  // namespace

World::World(const Recipe& recipe_in, Marks& marks_in)
    : recipe(recipe_in),
      random(recipe_in.seed),
      marks(marks_in),
      store(random, marks_in, clockwork),
      truth(store, zookeeper, marks_in),
      began_(clockwork.now()) {
  faults_ = std::make_unique<Faults>(*this);
  draw_limits();
  populate();
  clients_ = std::make_unique<Clients>(*this);
}

void World::draw_limits() {
  if (random.chance(30)) limits.inbox_reports = static_cast<std::size_t>(1 + random.below(4));
  if (random.chance(20)) limits.inbox_requests = static_cast<std::size_t>(1 + random.below(4));
  limits.beside_from = random.chance(70) ? static_cast<std::size_t>(1 + random.below(4)) : 64;
  if (random.chance(30)) limits.events_per_turn = static_cast<std::size_t>(1 + random.below(5));
  if (random.chance(30)) limits.fire_at_most = static_cast<std::int32_t>(2 + random.below(20));
  if (random.chance(20)) limits.tombstones = static_cast<std::size_t>(64 + random.below(64));
  if (random.chance(20)) limits.told_tombstones = static_cast<std::size_t>(random.below(4));
  if (random.chance(20)) limits.reports_per_call = static_cast<std::size_t>(1 + random.below(3));
  if (random.chance(30)) limits.store_give_up = random.between(1000ms, 6000ms);
  Random child_dice(recipe.seed, 72);
  if (child_dice.chance(50)) limits.children_at_most = static_cast<std::int32_t>(1 + child_dice.below(3));
  Random crowd_dice(recipe.seed, 27);  // its own, so that worlds without a crowd stay as they are
  if (!crowd_dice.chance(20)) return;
  limits.crowd = 8 + crowd_dice.below(16);
  limits.fire_at_most = static_cast<std::int32_t>(1 + crowd_dice.below(4));
}

void World::populate() {
  const bool wraps = random.chance(10);
  if (random.chance(40)) zookeeper.timing.session = random.between(3000ms, 10'000ms);
  if (random.chance(40)) zookeeper.master_session = random.between(2000ms, 8000ms);
  zookeeper.set_up(random.chance(70) ? 3 : 1);
  zookeeper.set_witness([this](const zk::NodeTree::Change& change) { truth.note_node(change, now()); });
  for (const auto& folder : {std::string("/rota"), std::string("/rota/sim"), kElectionFolder, kWorkersFolder, kBeatsFolder}) {
    (void)zookeeper.create(0, folder, "", zk::CreateMode::Persistent);
  }
  for (const auto& folder : {std::string("/rota"), std::string("/rota/sim"), kElectionFolder, kWorkersFolder}) {
    (void)other_zookeeper.create(0, folder, "", zk::CreateMode::Persistent);
  }
  zookeeper.set_next_sequence(kElectionFolder, wraps ? 2'147'483'640 : 1);
  Random lease_dice(recipe.seed, 31);  // its own, so that worlds without a lease stay as they are
  if (lease_dice.chance(15)) lease = std::make_unique<SimLease>(clockwork, Random(recipe.seed, 32), marks);
  const std::int64_t masters_wanted = 1 + random.below(3);
  for (std::int64_t i = 0; i < masters_wanted; ++i) {
    masters.push_back(std::make_unique<SimMaster>(*this, masters.size(), zookeeper));
  }
  const auto hosts = static_cast<std::size_t>(1 + random.below(4));
  for (std::size_t i = 0; i < 2 * hosts; ++i) {
    if (i >= hosts && !faults_->on("host_replaced")) break;
    const auto slots = static_cast<std::int32_t>(1 + random.below(4));
    workers.push_back(std::make_unique<SimWorker>(*this, i, "w" + std::to_string(i % hosts), slots));
    if (i >= hosts) workers.back()->be_spare();
  }
  if (!faults_->on("second_cluster")) return;
  limits.quiet = random.between(5000ms, 15'000ms);
  masters.push_back(std::make_unique<SimMaster>(*this, masters.size(), other_zookeeper));
  store.judge_offices(masters.back()->name(), limits.quiet);
}

bool World::faults_on(const std::string& kind) const { return faults_->on(kind); }
bool World::is_healed() const { return faults_->are_healed(); }

master::StoredMark World::noted_in_zookeeper() {
  const zk::Node* node = zookeeper.tree().find("/rota/sim/epoch_stored");
  if (node == nullptr) return {};
  std::istringstream words(node->data);
  master::StoredMark mark;
  std::int64_t through = 0, reaching = 0, job = 0;
  words >> mark.epoch.value;
  if (words >> through) mark.watermark = wall_from_ms(through);
  if (words >> reaching >> job) {
    mark.watermark = master::core::Watermark(wall_from_ms(through), wall_from_ms(reaching), JobId{job});
  }
  return mark;
}

SimWorker* World::spare_of(const SimWorker& worker) {
  for (auto& other : workers) {
    if (other->is_spare() && other->id() == worker.id() && other.get() != &worker) return other.get();
  }
  return nullptr;
}

World::~World() = default;

void World::trace(const char* what, const std::string& detail) {
  const auto mix = [this](const char* text) {
    for (; *text != '\0'; ++text) hash_ = (hash_ ^ static_cast<unsigned char>(*text)) * 1'099'511'628'211ull;
  };
  hash_ = (hash_ ^ static_cast<std::uint64_t>((now() - began_).count())) * 1'099'511'628'211ull;
  mix(what);
  mix(detail.c_str());
  if (recipe.verbose) std::fprintf(stderr, "%10.3f %s %s\n", static_cast<double>((now() - began_).count()) / 1e6, what, detail.c_str());
}

void World::violate(const std::string& what) {
  if (!what.empty() && violation_.empty()) violation_ = what;
}

void World::zookeeper_tick() {
  after(50ms, [this] { zookeeper_tick(); });
  zookeeper.expire(now());
  other_zookeeper.expire(now());
  if (!zookeeper.is_up()) return;
  for (auto& master : masters) master->look_at_election();
}

std::string World::run() {
  for (auto& master : masters) {
    if (!master->is_stranger()) master->start();
  }
  for (auto& worker : workers) {
    if (!worker->is_spare()) worker->start_host();
  }
  zookeeper_tick();
  routes.begin();
  clients_->begin();
  faults_->begin();
  if (lease && faults_->kinds_on().size() > 1) lease->begin_faults();
  const Millis faulty = random.chance(75) ? random.between(12s, 35s) : random.between(35s, 90s);
  if (!live_until(began_ + faulty)) return violation_;
  faults_->heal();
  if (lease) lease->heal();
  if (!live_until(now() + 30s)) return violation_;
  if (std::string wrong = judge_health(); !wrong.empty()) return wrong;
  clients_->stop();
  std::size_t begun = truth.begun();
  for (int still = 0; still < kRoundsWithoutStart && !is_quiet(); ++still) {
    if (!live_until(now() + 5s)) return violation_;
    if (std::exchange(begun, truth.begun()) != truth.begun()) still = 0;
  }
  for (const auto& master : masters) master->crash(true, Millis{1});
  return judge_end();
}

bool World::live_until(MonoTime end) {
  while (violation_.empty() && clockwork.step(end)) {
  }
  return violation_.empty();
}

/// Half a minute after all faults: a master leads, and the watermark follows the clock.
std::string World::judge_health() const {
  const bool led = std::ranges::any_of(
      masters, [this](const auto& m) { return !m->is_stranger() && m->epoch() == store.epoch(); });
  if (!led) return "nobody leads a healed world";
  const auto watermark = store.watermark();
  if (!watermark) return "a healed world has no watermark";
  const WallTime true_now = clockwork.true_wall();
  if (watermark->reaching > true_now + kClockTolerance) return "P21: the watermark ran ahead of all clocks, by " + std::to_string((watermark->reaching - true_now).count()) + " ms";
  const bool fires = std::ranges::any_of(store.jobs(), [](const auto& each) {
    return !each.second.one_off && each.second.state == model::JobState::Enabled;
  });
  if (fires && watermark->through < true_now - kWatermarkLag) {
    return "P2: the watermark of a healed world stands still, " + std::to_string((true_now - watermark->through).count()) + " ms behind";
  }
  return "";
}

bool World::clocks_tell() const {
  return !faults_on("clock_jump") && !faults_on("clock_drift") && !faults_on("clocks_together") &&
         !faults_on("worker_clock_jump") && !faults_on("host_replaced");
}

std::string World::judge_verified() const {
  const auto rows = store.as_memory_store();
  const master::verify::Sources sources{*rows, nullptr, sim_zone};
  const auto report = master::verify::verify(sources, {}, MonoTime::max());
  if (!report) return "verify: " + report.error().message;
  for (const auto& check : report->checks) {
    if (!clocks_tell() && kByClocks.contains(check.promise)) continue;
    if (!check.ok) return "verify " + check.promise + ": " + (check.examples.empty() ? "?" : check.examples.front());
  }
  return "";
}

/// One whose job a restored database lacks, or lacked at the takeover, stays as it is.
bool World::has_ended(const model::Run& run) const {
  if (model::is_final(run.progress.state)) return true;
  return store.was_left_out(run.id) || (store.went_back() && !store.has_job(run.job));
}

bool World::is_quiet() const {
  for (const auto& [id, run] : store.runs()) {
    if (!has_ended(run)) return false;
  }
  for (const auto& worker : workers) {
    if (!worker->is_quiet()) return false;
  }
  return clients_->is_quiet();
}

std::string World::judge_end() const {
  for (const auto& [id, run] : store.runs()) {
    if (has_ended(run)) continue;
    return "run " + std::to_string(id.value) + " never ended: " +
           std::string(name_of(run.progress.state)) + ", " + std::string(name_of(run.progress.reason)) +
           " at " + run.progress.worker.id + "@" + run.progress.worker.incarnation;
  }
  if (!is_quiet()) return "the world does not come to rest";
  if (!store.tables().children_owed.empty()) return "P49: children are owed forever";
  if (std::string wrong = truth.judge_outcomes(); !wrong.empty()) return wrong;
  if (std::string wrong = clients_->judge(); !wrong.empty()) return wrong;
  for (const auto& worker : workers) {
    if (store.went_back() || !worker->is_registered()) continue;
    if (!store.tables().starts.contains(worker->start_key())) return "P38: a start of " + worker->start_key().worker + " was never accepted";
  }
  if (std::string wrong = judge_single(); !wrong.empty()) return wrong;
  return store.went_back() ? "" : judge_verified();
}

/// P19, P20: when only one thing breaks that another can replace, no job is killed and none is lost.
std::string World::judge_single() const {
  static const std::set<std::string> kHarmless = {
      "leader_crash", "master_crash", "leader_freeze", "leader_cut_from_zookeeper", "candidate_deleted",
      "clock_jump", "clock_drift", "clocks_together", "zookeeper_down", "database_down", "frozen_in_transaction",
      "worker_clock_jump", "clock_rates", "batches_slow", "batches_failed", "batches_unknown",
      "worker_cut_from_masters", "follower_lags", "zookeeper_wiped", "zookeeper_restored", "ownerless_node"};
  const auto kinds = faults_->kinds_on();
  if (kinds.size() != 1 || !kHarmless.contains(kinds.front())) return "";
  if (zookeeper_broke_twice) return "";
  marks.hit("single_fault_harmless");
  if (lapses > 0) return "P19/P20: jobs are killed for want of a voucher though only " + kinds.front() + " struck";
  if (workers_mended > 0) return "";
  // A worker that loses its session has a new life: attempts on their way to the old life never start.
  const bool ends_lives = kinds.front() == "zookeeper_wiped" || kinds.front() == "zookeeper_restored";
  for (const model::AttemptKey key : store.lost_attempts()) {
    if (ends_lives && !truth.has_begun(key)) continue;
    return "P19/P20: an attempt is lost though only " + kinds.front() + " struck";
  }
  return "";
}

void World::note_office(master::OfficeRuling ruling) {
  using master::OfficeRuling;
  if (ruling == OfficeRuling::Adopt) marks.hit("zookeeper_adopted");
  if (ruling == OfficeRuling::TakeAccepted) marks.hit("zookeeper_accepted");
}

void World::await_registrations(bool is_wiped) {
  const int loss = ++losses_of_zookeeper_;
  const Millis longest = std::max(zookeeper.timing.session, zookeeper.master_session);
  after(2 * longest + 1s, [this, loss, is_wiped] {
    if (faults_->kinds_on().size() != 1 || loss != losses_of_zookeeper_ || !zookeeper.is_up()) return;
    marks.hit("registered_after_loss");
    violate(judge_registered(is_wiped));
  });
}

std::string World::judge_registered(bool is_wiped) const {
  for (const auto& worker : workers) {
    if (!worker->is_up()) continue;
    if (!worker->is_registered()) return "P19: " + worker->id() + " is not registered two sessions after a loss";
    if (is_wiped && !worker->is_greeted()) return "P19: " + worker->id() + " is of no use two sessions after a loss";
  }
  for (const auto& master : masters) {
    if (!master->is_alive() || master->stands()) continue;
    return "P19: a master does not stand for election two sessions after a loss";
  }
  return "";
}

void World::note_counters(const master::core::Snapshot& snapshot) {
  const auto& counters = snapshot.counters;
  marks.hit("attempt_adopted", counters.at("adopted"));
  marks.hit("forgotten_attempt_taken_up", counters.at("readopted"));
  marks.hit("attempt_proven_dead", counters.at("proven_dead"));
  marks.hit("attempt_given_up_at_fence", counters.at("redispatches"));
  marks.hit("attempt_resent_after_inventory", counters.at("resent"));
  marks.hit("report_repeated", counters.at("repeated_reports"));
}

}  // namespace rota::sim
