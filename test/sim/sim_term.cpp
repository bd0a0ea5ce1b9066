// A simulated master's way into office, its Term and its end.
#include <algorithm>

#include "common/model/worker_json.h"
#include "common/zk/absence_rules.h"
#include "master/office/rewind.h"
#include "master/upkeep/tick_hold.h"
#include "sim_master.h"
#include "sim_storing.h"
#include "worker_node.h"
#include "sim_zones.h"
#include "world.h"

namespace rota::sim {

using master::core::Send;
using std::chrono_literals::operator""ms;

/// Passes messages to the world's network; they leave when the store has answered.
class SimMaster::LossySender final : public master::dispatch::Sender {
 public:
  LossySender(World& world, std::size_t master) : world_(world), master_(master) {}
  void send(Epoch epoch, Send message) override {
    world_.carry(master_, epoch, std::move(message), world_.store.latency);
  }

 private:
  World& world_;
  const std::size_t master_;
};

struct SimMaster::Term {
  Term(World& world, SimMaster& owner, master::Office office, const Clock& clock)
      : epoch(office.epoch),
        restored(office.recovered.database_went_back),
        told_hold(hold_at_begin(owner, office).empty() ? "" : "its own words"),
        sender(world, owner.index_),
        inbox({world.limits.inbox_reports, world.limits.inbox_requests}),
        file(core_options(world, owner, office)),
        storing(world, [&owner](Millis for_long) { owner.freeze(for_long); }, [&owner] { owner.plan_turn(0ms); }),
        scheduler(office.epoch, core_options(world, owner, office), std::move(office.recovered), clock.now()),
        loop(epoch,
             {scheduler, world.store, sender,
              [&world](Token token, master::core::ReplyBody body) {
                world.answer(token, std::move(body), world.store.latency);
              },
              clock, inbox, [&owner](std::int64_t asked) { owner.list_workers(asked); }, {},
              [&owner](const auto& key) { owner.watch_beat(key); }, {},
              [&world](const master::core::Violation& broken) {
                world.violate("an invariant: " + broken.what + "; " + broken.around);
              },
              &storing, [&owner](const auto& row) { owner.send_notification(row); },
              [this, &world](const auto& rows) {
                world.violate(world.store.judge_settings_told(rows, scheduler.settings(), file));
              },
              [&owner](const auto& row) { owner.call_hook(row); }},
             loop_options(world)) {}

  static master::core::CoreOptions core_options(const World& world, const SimMaster& owner,
                                                const master::Office& office) {
    master::core::CoreOptions options;
    options.grant = owner.grant_;
    options.older_grant = office.longest_grant;
    options.fire_at_most = world.limits.fire_at_most;
    options.children_at_most = world.limits.children_at_most;
    world.set_state_limits(options);
    options.tick_hold = hold_at_begin(owner, office);
    options.receivers = world.receivers.rules();
    options.hooks = world.hooks.names();
    return options;
  }
  /// Like production: a doubt from before the Term also holds its first turn.
  static std::string hold_at_begin(const SimMaster& owner, const master::Office& office) {
    return master::reason_to_hold(office.recovered.database_went_back, owner.guard_->doubt());
  }
  static master::loop::LoopOptions loop_options(const World& world) {
    master::loop::LoopOptions options;
    options.events_per_turn = world.limits.events_per_turn;
    options.store_give_up = world.limits.store_give_up;
    options.beside_from = world.limits.beside_from;
    options.snapshot_every = Millis{60'000};
    return options;
  }

  const Epoch epoch;
  bool restored;                       ///< as far as known
  std::string told_hold;
  LossySender sender;
  master::loop::Inbox inbox;
  const model::Settings file;          ///< what its master.yaml says
  SimStoring storing;
  master::core::Scheduler scheduler;
  master::loop::EventLoop loop;
  std::map<std::string, std::string> known;   ///< the workers' nodes that the core knows
  zk::MadeAt made;                     ///< of all nodes ever listed
  bool listed = false;
  bool sync_planned = false;
  bool must_prove = false;             ///< that ZooKeeper knows everything that was seen there
  bool must_know_older = false;
  std::int64_t seen_zxid = 0;
  std::optional<zk::FolderMark> folder_seen;
  std::set<std::string> older;         ///< names that older data brought back
  MonoTime hold_until{};               ///< until then, missing workers count as present
};

SimMaster::SimMaster(World& world, std::size_t index, SimZookeeper& zookeeper)
    : world_(world),
      index_(index),
      zookeeper_(zookeeper),
      grant_(world.random.chance(70) ? 5000ms : world.random.between(2000ms, 9000ms)),
      server_(world.random.index(zookeeper.server_count())),
      clock_(world.clockwork),
      office_(world.store, world.random, world.marks, world.clockwork),
      name_("m" + std::to_string(index)) {
  if (world.faults_on("clock_rates")) clock_.set_rate(static_cast<int>(world.random.below(11)) - 5);
  clock_.boot(world.random);
  if (world.shares_host()) clock_.share_host();
  make_guard();
}
SimMaster::~SimMaster() = default;

std::optional<Epoch> SimMaster::epoch() const {
  if (!leads()) return std::nullopt;
  return term_->epoch;
}

/// Every half second, like production: the guard checks its own clock, and the database's clock if that answers.
/// The Term is told whether to hold ticks.
void SimMaster::look_at_database(std::int64_t life) {
  if (life != life_ || !alive_) return;
  world_.after(500ms, [this, life] { look_at_database(life); });
  if (is_frozen()) return;
  if (!world_.store.faults.down) {
    guard_->look(world_.clockwork.true_wall() + world_.clockwork.common_step, clock_.mono(), clock_.mono());
    saw_database_ = true;
  }
  follow_clock();
  if (!term_) stepped_looks_ = 0;
  if (!term_ || world_.store.faults.down) return;
  tell_hold();
  stepped_looks_ = world_.clockwork.common_step == 0ms || began_in_step_ ? 0 : stepped_looks_ + 1;
  if (++looks_ % 2 == 0) note_progress();
  if (looks_ % 4 == 0) (void)office_.beat(term_->epoch);
}

/// Like production: at most twice a second, so that a successor notices a database that lost more.
void SimMaster::note_progress() {
  if (term_->restored || !reaches_zookeeper()) return;
  SimZkClient client = zookeeper_client({world_.zk_call_lost, 0, 0});
  (void)master::note_stored(client, paths_, {term_->epoch, term_->loop.stored_watermark()});
}

/// Like production: in any role.
void SimMaster::follow_clock() {
  const auto step = guard_->doubt().step;
  if (step) world_.marks.hit("clock_step_held");
  if (!reaches_zookeeper()) return;
  SimZkClient client = zookeeper_client({world_.zk_call_lost, 0, 0});
  if (!clock_note_->follow(client, step)) return;
  world_.marks.hit("clock_accepted");
  guard_->accept();
}

bool SimMaster::accept_clocks() {
  if (!reaches_zookeeper() || !zookeeper_.agrees(server_)) return false;
  SimZkClient client = zookeeper_client();
  const auto held = master::accept_clocks(client, paths_);
  return held && !held->empty();
}

void SimMaster::rewind_ticks() {
  if (!reaches_zookeeper() || !zookeeper_.agrees(server_)) return;
  SimZkClient client = zookeeper_client();
  const auto rows = world_.store.as_memory_store();
  const master::RewindParts parts{client, paths_, office_, *rows, sim_zone};
  const auto done = master::rewind_ticks(parts, {"operator", grant_, {}}, clock_.wall());
  world_.trace("rewind", done ? std::to_string((done->from - done->to).count()) : done.error().message);
}

Millis SimMaster::clock_error() const { return floor_ms(clock_.wall() - world_.clockwork.true_wall()); }

/// One whose successor has claimed fires nothing by any clock: its batches are judged by the fence.
bool SimMaster::fires_by_a_stepped_clock() const {
  constexpr int kLooks = 4;
  return leads() && term_->epoch == world_.store.epoch() && !is_frozen() && world_.now() >= busy_until_ &&
         stepped_looks_ >= kLooks &&
         world_.clockwork.common_step != 0ms && term_->scheduler.snapshot(clock_.now()).tick_hold.empty();
}

bool SimMaster::is_stranger() const { return &zookeeper_ != &world_.zookeeper; }

/// Like production: ZooKeeper's note of the restore counts if it is unchanged.
void SimMaster::keep_zookeeper(bool lets_go) {
  using master::ZookeeperFinding;
  SimZkClient client = zookeeper_client({world_.zk_call_lost, 0, 0});
  const auto found = keeper_.look(client, paths_, office_, term_->restored);
  if (found == ZookeeperFinding::Repaired) {
    world_.marks.hit("identity_rewritten");
    post(master::core::ZookeeperReplaced{keeper_.number()});
  }
  if (found == ZookeeperFinding::WorkersGone) {
    world_.marks.hit("unseen_workers_gone");
    post(master::core::UnseenGone{});
  }
  if (found == ZookeeperFinding::Fine && lets_go) term_->restored = false;
}

void SimMaster::tell_hold() {
  if (reaches_zookeeper()) {
    SimZkClient client = zookeeper_client();
    const auto held = term_->restored ? master::is_restore_held(client, paths_) : Result<bool>(true);
    keep_zookeeper(held && !*held);
  }
  std::string why = master::reason_to_hold(term_->restored, guard_->doubt());
  if (why == term_->told_hold || !post(master::core::HoldTicks{why})) return;
  if (!why.empty()) world_.marks.hit("ticks_held");
  world_.trace("hold", std::to_string(index_) + " " + why);
  term_->told_hold = std::move(why);
}

void SimMaster::enter_office(bool between) {
  if (term_ || taking_office_ || !reaches_zookeeper()) return;
  if (!saw_database_ || world_.store.faults.down) return;
  taking_office_ = true;
  const ZkCallFaults faults{world_.zk_call_lost, between ? 0 : world_.zk_call_between, world_.zk_call_dies};
  SimZkClient client = zookeeper_client(faults, [this] {
    for (auto& other : world_.masters) {
      if (other.get() == this || !other->is_alive()) continue;
      world_.marks.hit("fault_other_takeover_between");
      other->enter_office(true);
      return;
    }
  });
  master::Candidate self{name_, grant_, last_stored_, name_ + ":1"};
  self.quiet = [this](const master::store::Office::Marks& seen) { return quiet_.look(seen, clock_.mono()); };
  self.quiet_needed = world_.limits.quiet;
  auto office = master::enter_office(client, paths_, office_, self);
  taking_office_ = false;
  if (client.is_dead()) {
    crash(true, world_.random.between(500ms, 5000ms));
    return;
  }
  held_off_.clear();
  if (office) {
    begin_term(std::move(*office));
    (void)master::note_stored(client, paths_, {term_->epoch, std::nullopt});
    return;
  }
  if (office.error().code == ErrorCode::Fenced) note_refusal(office.error());
  const bool lost_race = office.error().code == ErrorCode::Conflict;
  world_.marks.hit(lost_race ? "takeover_lost_race" : "takeover_failed");
  stand_back(lost_race ? 0ms : 500ms);
}

/// P34: a master that stays out of office says who led the database last, and where.
void SimMaster::note_refusal(const Error& error) {
  held_off_ = error.message;
  world_.marks.hit(held_off_.find("have not ended") == std::string::npos ? "refused_as_foreign" : "operator_asked");
  world_.trace("held off", name_ + " " + held_off_);
  const auto says = [this](const char* part) { return held_off_.find(part) != std::string::npos; };
  const bool names_leader = (says("master 'm") && says("' at m")) || says("master 'operator'");  // that rewound ticks
  if (names_leader && says("--accept-new-zookeeper")) return;
  world_.violate("P34: " + name_ + " is held off and does not name who leads: " + held_off_);
}

void SimMaster::begin_term(master::Office office) {
  world_.marks.hit("took_office");
  world_.note_office(office.ruling);
  keeper_.begin(office.epoch, office.cluster_uuid);
  if (office.recovered.database_went_back) world_.marks.hit("restore_alarm");
  world_.store.note_takeover(office.epoch, office.recovered.database_went_back);
  world_.trace("office", std::to_string(index_) + " epoch " + std::to_string(office.epoch.value));
  term_ = std::make_unique<Term>(world_, *this, std::move(office), *guard_);
  world_.violate(world_.store.judge_takeover_settings(term_->epoch, term_->file, term_->scheduler.settings()));
  busy_until_ = world_.now() + world_.random.between(1ms, 30ms);
  watch_armed_ = true;
  beats_read_.clear();
  watch_workers();
  plan_turn(Micros{0});
}

/// No watch is armed now.
void SimMaster::look_anew() {
  if (!term_) return;
  term_->must_prove = term_->seen_zxid != 0 || term_->folder_seen.has_value();
  watch_armed_ = true;
  watch_workers();
}

/// Like production's membership: a write in each new session or by each new handle detects servers that lost
/// data. False: not now.
bool SimMaster::prove() {
  if (!term_->must_prove) return true;
  SimZkClient client = zookeeper_client({world_.zk_call_lost, 0, 0});
  auto written = client.set(kWorkersFolder, "", zk::kAnyVersion);
  if (!written && written.error().code == ErrorCode::NotFound && zk::ensure_cluster(client, paths_)) {
    note_folder({});
    written = client.set(kWorkersFolder, "", zk::kAnyVersion);
  }
  if (written) note_folder(*written);
  return written.has_value();
}

void SimMaster::note_folder(const zk::NodeStat& folder) {
  const zk::FolderMark mark = mark_of(folder);
  const bool is_lost = zk::has_gone_back(term_->seen_zxid, folder.changed_zxid) ||
                       zk::has_lost(term_->folder_seen, mark);
  const bool has_older = !zk::is_made_anew(term_->folder_seen, mark);
  term_->folder_seen = mark;
  if (std::exchange(term_->must_prove, false) && is_lost) {
    world_.marks.hit("loss_of_zookeeper_noticed");
    world_.trace("loss noticed", name_);
    term_->seen_zxid = 0;
    term_->must_know_older = has_older;
    term_->older.clear();
    term_->hold_until = world_.now() + zk::kAbsenceHold;
    sync_again(zk::kAbsenceHold);
  }
  term_->seen_zxid = std::max(term_->seen_zxid, folder.changed_zxid);
}

/// Lists and watches workers' nodes; nodes that no session owns do not count.
std::map<std::string, std::string> SimMaster::list_nodes() {
  std::map<std::string, std::string> listed;
  const zk::NodeTree& view = zookeeper_.view(server_);
  zookeeper_.watch_children(session_, kWorkersFolder);
  for (const std::string& name : view.list(kWorkersFolder).value_or(std::vector<std::string>{})) {
    const std::string path = kWorkersFolder + "/" + name;
    const zk::Node& node = *view.find(path);
    term_->seen_zxid = std::max(term_->seen_zxid, node.stat.changed_zxid);
    if (node.stat.ephemeral_owner == 0) continue;
    zookeeper_.watch(session_, path, true);
    listed[name] = node.data;
    term_->made[name] = node.stat.created_ms;
  }
  const zk::Node* folder = view.find(kWorkersFolder);
  if (folder != nullptr) term_->folder_seen = mark_of(folder->stat);
  return listed;
}

/// A node in the first listing after a loss that was not reported before came back with the older data.
std::set<std::string> SimMaster::awaited_workers(const std::map<std::string, std::string>& listed) {
  if (std::exchange(term_->must_know_older, false)) {
    term_->older = zk::older_names(term_->made, term_->known, listed);
  }
  if (world_.now() >= term_->hold_until) return {};
  auto awaited = zk::awaited_names(term_->known, listed, term_->older);
  if (!awaited.empty()) world_.marks.hit("worker_awaited");
  return awaited;
}

void SimMaster::sync_again(Millis in) {
  world_.after(in, [this, life = life_, epoch = epoch()] {
    if (life != life_ || !leads() || this->epoch() != epoch) return;
    term_->sync_planned = false;
    (void)sync_workers();
  });
}

/// Compares the set of nodes with the one reported last, like the worker watch: new nodes come first. False:
/// something is unknown now; it is done again.
bool SimMaster::sync_workers() {
  if (!reaches_zookeeper() || !prove()) {
    if (!std::exchange(term_->sync_planned, true)) sync_again(100ms);
    return false;
  }
  watch_armed_ = true;
  const std::map<std::string, std::string> listed = list_nodes();
  const std::set<std::string> awaited = awaited_workers(listed);
  for (const auto& [name, data] : listed) {
    if (std::string& known = term_->known[name]; known != data) {
      known = data;
      post(master::core::WorkerSeen{read_worker_node(name, data)});
    }
  }
  std::erase_if(term_->known, [&](const auto& known) {
    if (listed.contains(known.first) || awaited.contains(known.first)) return false;
    world_.trace("gone", known.first);
    post(master::core::WorkerGone{read_worker_node(known.first, known.second).key});
    return true;
  });
  if (!std::exchange(term_->listed, true)) post(master::core::WorkersListed{});
  return awaited.empty();
}

bool SimMaster::post(master::core::Event event) {
  if (!leads()) return false;
  const auto posted = term_->inbox.post(std::move(event));
  if (!posted) {
    if (posted.error().code == ErrorCode::Overloaded) world_.marks.hit("inbox_full");
    return false;
  }
  plan_turn(Micros{0});
  return true;
}

void SimMaster::plan_turn(Micros in) {
  const MonoTime earliest = std::max({world_.now() + in, frozen_until_, busy_until_});
  const std::int64_t number = ++planned_;
  const Millis delay = std::chrono::ceil<Millis>(earliest - world_.now());
  world_.after(delay, [this, number] {
    if (number != planned_ || !leads()) return;
    if (is_frozen()) {
      plan_turn(Micros{0});
    } else {
      turn();
    }
  });
}

void SimMaster::turn() {
  world_.store.latency = world_.store.caller_freezes = 0ms;
  const auto& counters = term_->loop.counters();
  const std::int64_t reruns = counters.reruns, beside = counters.beside, prepared = counters.prepared;
  const auto result = term_->loop.turn();
  world_.marks.hit("batch_rerun", counters.reruns - reruns);
  world_.marks.hit("batch_decided_beside", counters.beside - beside);
  world_.marks.hit("batch_prepared", counters.prepared - prepared);
  busy_until_ = world_.now() + world_.store.latency;
  world_.violate(world_.store.violation);
  if (result.ended) {
    end_term(*result.ended);
    return;
  }
  if (world_.random.chance(world_.limits.check_percent)) term_->scheduler.check_invariants();
  if (world_.store.caller_freezes > 0ms) freeze(world_.store.caller_freezes);
  plan_turn(result.wait);
}

void SimMaster::end_term(const master::loop::TermEnd& why) {
  using Why = master::loop::TermEnd::Why;
  if (why.why == Why::Fenced) world_.marks.hit("term_fenced");
  if (why.why == Why::StoreLost) world_.marks.hit("term_lost_its_store");
  if (why.why == Why::HigherEpoch) world_.marks.hit("term_saw_higher_epoch");
  if (why.why == Why::Contradicted) world_.marks.hit("term_contradicted");
  world_.trace("term ends", std::string(name_of(why.why)) + " " + why.detail);
  world_.note_counters(term_->scheduler.snapshot(clock_.now()));
  world_.violate(world_.store.violation);
  last_stored_ = {term_->epoch, term_->loop.stored_watermark()};
  term_.reset();
  if (why.database_went_back) raise_alarm();
  stand_back(1000ms);
}

/// As a crash finds it: a batch may be on its way to the database.
void SimMaster::drop_term() {
  if (!term_) return;
  world_.note_counters(term_->scheduler.snapshot(clock_.now()));
  term_->storing.crash();
  term_.reset();
}

void SimMaster::raise_alarm() {
  world_.marks.hit("loss_seen_by_its_leader");
  if (!reaches_zookeeper()) return;
  SimZkClient client = zookeeper_client({world_.zk_call_lost, 0, 0});
  (void)master::raise_restore_alarm(client, paths_, last_stored_.epoch);
}

void SimMaster::crash(bool clean, Millis for_long) {
  if (!alive_) return;
  world_.trace("crash", std::to_string(index_));
  alive_ = false;
  ++life_;
  drop_term();
  office_planned_ = taking_office_ = false;
  frozen_until_ = {};
  zookeeper_.detach(session_);
  if (clean && zookeeper_.is_up()) zookeeper_.end_session(session_);
  session_ = 0;
  seen_zxid_ = 0;
  ++planned_;
  candidacy_.clear();
  leaving_.clear();
  if (lives_) *lives_ = false;
  elector_.reset();
  if (for_long == Millis::max()) return;
  world_.after(for_long, [this, life = life_] {
    if (life == life_) start();
  });
}

}  // namespace rota::sim
