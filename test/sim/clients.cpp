#include "clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "child_judge.h"
#include "demand_draw.h"
#include "job_draw.h"
#include "limit_judge.h"
#include "retry_judge.h"
#include "sim_worker.h"
#include "sim_zones.h"
#include "world.h"

namespace rota::sim {

using master::core::ReplyBody;
using std::chrono_literals::operator""ms;

namespace {

constexpr Millis kPatience{8000};
constexpr Millis kCrowdEvery{20'000};

}  // namespace

Clients::Clients(World& world)
    : world_(world),
      route_dice_(world.recipe.seed, 35),
      kind_dice_(world.recipe.seed, 37),
      prefer_dice_(world.recipe.seed, 53),
      limit_dice_(world.recipe.seed, 38),
      demand_dice_(world.recipe.seed, 73),
      expect_dice_(world.recipe.seed, 61),
      retry_dice_(world.recipe.seed, 39),
      child_dice_(world.recipe.seed, 71),
      calendars_(world, [this](auto make, auto then) { ask(std::move(make), std::move(then)); }),
      semaphores_(world, [this](auto make, auto then) { ask(std::move(make), std::move(then)); }),
      quotas_(world, [this](auto make, auto then) { ask(std::move(make), std::move(then)); }),
      scaling_(world, [this](auto make, auto then) { ask(std::move(make), std::move(then)); }),
      settings_(world, [this](auto make, auto then) { ask(std::move(make), std::move(then)); }) {
  const std::int64_t wanted = 3 + world.random.below(4);
  for (std::int64_t i = 0; i < wanted; ++i) jobs_.push_back(random_job(world.random, jobs_.size()));
  add_crowd();
  add_jobs_with_calendars();
  for (model::JobDefinition& job : jobs_) draw_route(job);
  for (model::JobDefinition& job : jobs_) draw_limits(job.rules, limit_dice_);
  for (model::JobDefinition& job : jobs_) draw_demand(job.rules, world.recipe.seed, demand_dice_);
  for (model::JobDefinition& job : jobs_) draw_expected(job.rules, expect_dice_);
  for (model::JobDefinition& job : jobs_) draw_retry(job, retry_dice_, world.workers.size() > 2);
  for (model::JobDefinition& job : jobs_) {
    semaphores_.draw(job.rules);
    world.receivers.draw(job.rules);
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) draw_children(jobs_[i].rules, jobs_, i, child_dice_);
  paused_.resize(jobs_.size());
}

/// With dice of its own, so that all else of the worlds stays as it is.
/// By dice of its own: what else a seed makes stays.
void Clients::draw_preference(model::JobDefinition& job, bool at_starts) {
  job.rules.prefer.clear();
  job.rules.prefer_for = model::JobRules{}.prefer_for;
  if (at_starts || job.rules.route == model::RouteKind::Named || !prefer_dice_.chance(20)) return;
  job.rules.prefer = {{"zone", job.rules.select.empty() ? "south" : "north"}};
  job.rules.prefer_for = Millis{200 + prefer_dice_.below(20'000)};
}

void Clients::draw_route(model::JobDefinition& job) {
  job.work.handler = "command";
  if (route_dice_.chance(30)) job.work.handler = kHandlers[route_dice_.index(kHandlers.size())];
  const auto& entries = job.rules.schedule.entries;
  const bool at_starts = std::ranges::any_of(entries, [](const auto& line) { return line.starts_with("worker_start"); });
  const char* zones[] = {"north", "south,north", "north,west"};
  job.rules.select.clear();
  if (!at_starts && kind_dice_.chance(25)) job.rules.select = {{"zone", zones[kind_dice_.index(std::size(zones))]}};
  draw_preference(job, at_starts);
  using model::RouteKind;
  if (job.rules.route == RouteKind::Named || !kind_dice_.chance(60)) return;
  const RouteKind kinds[] = {RouteKind::First, RouteKind::Last, RouteKind::Random, RouteKind::ConsistentHash,
                             RouteKind::LeastFrequentlyUsed, RouteKind::LeastRecentlyUsed, RouteKind::Failover,
                             RouteKind::Busyover, RouteKind::WeightedRoundRobin, RouteKind::LeastConnections,
                             RouteKind::FastestResponse, RouteKind::ConsistentHash};
  job.rules.route = kinds[kind_dice_.index(std::size(kinds))];
  const bool is_shared = job.rules.route == RouteKind::ConsistentHash && kind_dice_.chance(50);
  job.rules.route_key = is_shared ? "shared" : "";
}

/// Jobs that are all due in one moment, again and again, between other jobs with lower and higher ids.
void Clients::add_crowd() {
  const WallTime start = world_.clockwork.true_wall() + kCrowdEvery / 2;
  for (std::int64_t i = 0; i < world_.limits.crowd; ++i) {
    model::JobDefinition job = random_job(world_.random, jobs_.size());
    job.rules.schedule = {};
    job.rules.schedule.kind = model::ScheduleKind::FixedRate;
    job.rules.schedule.interval = kCrowdEvery;
    job.rules.schedule.start = start;
    jobs_.push_back(std::move(job));
  }
  if (world_.limits.crowd > 0) jobs_.push_back(random_job(world_.random, jobs_.size()));
}

void Clients::add_jobs_with_calendars() {
  first_with_calendar_ = jobs_.size();
  for (std::size_t i = 0; i < calendars_.jobs(); ++i) {
    model::JobDefinition job = random_job(world_.random, jobs_.size());
    job.rules.schedule = {};
    job.rules.schedule.kind = model::ScheduleKind::Entries;
    job.rules.schedule.entries = calendars_.entries();
    jobs_.push_back(std::move(job));
  }
}

/// Other entries of a job that names calendars.
void Clients::change_entries() {
  if (stopped_) return;
  world_.after(world_.random.between(5000ms, 25'000ms), [this] { change_entries(); });
  const auto job = first_with_calendar_ + world_.random.index(calendars_.jobs());
  jobs_[job].rules.schedule.entries = calendars_.entries();
  apply(job);
}

void Clients::begin() {
  apply_all();
  if (!calendars_.is_idle()) world_.after(world_.random.between(5000ms, 25'000ms), [this] { change_entries(); });
  calendars_.begin();
  semaphores_.begin();
  quotas_.begin();
  scaling_.begin();
  settings_.begin();
  world_.after(2000ms, [this] { act(); });
}

void Clients::apply_all() {
  for (std::size_t i = 0; i < jobs_.size(); ++i) apply(i);
}

void Clients::ask(std::function<master::core::Event(Token)> make,
                  std::function<void(const ReplyBody&)> then) {
  std::vector<SimMaster*> leaders;
  for (auto& master : world_.masters) {
    if (master->leads()) leaders.push_back(master.get());
  }
  if (leaders.empty()) {
    world_.after(200ms, [then] { then(Error(ErrorCode::NotLeader, "nobody leads")); });
    return;
  }
  const auto chosen = static_cast<std::size_t>(world_.random.below(static_cast<std::int64_t>(leaders.size())));
  const Token token = world_.new_token();
  auto open = std::make_shared<std::function<void(const ReplyBody&)>>(std::move(then));
  const auto once = [open](const ReplyBody& body) {
    if (const auto answer = std::exchange(*open, {})) answer(body);
  };
  world_.expect(token, once);
  world_.after(kPatience, [this, token, once] {
    world_.forget(token);
    once(Error(ErrorCode::UnknownOutcome, "no answer"));
  });
  if (!leaders[chosen]->post(make(token))) once(Error(ErrorCode::NotLeader, "closed"));
}

void Clients::act() {
  if (stopped_) return;
  world_.after(world_.random.between(50ms, 700ms), [this] { act(); });
  const auto job = static_cast<std::size_t>(world_.random.below(static_cast<std::int64_t>(jobs_.size())));
  switch (world_.random.below(23)) {
    case 0:
      jobs_[job].description = "edit " + std::to_string(++keys_);
      if (world_.random.chance(50)) jobs_[job].rules.retry.delay += 1ms;
      if (route_dice_.chance(30)) draw_route(jobs_[job]);
      if (limit_dice_.chance(30)) draw_limits(jobs_[job].rules, limit_dice_);
      if (demand_dice_.chance(30)) draw_demand(jobs_[job].rules, world_.recipe.seed, demand_dice_);
      if (expect_dice_.chance(30)) draw_expected(jobs_[job].rules, expect_dice_);
      keep_retry_possible(jobs_[job]);
      if (retry_dice_.chance(30)) draw_retry(jobs_[job], retry_dice_, world_.workers.size() > 2);
      if (route_dice_.chance(20)) semaphores_.draw(jobs_[job].rules);
      if (child_dice_.chance(20)) draw_children(jobs_[job].rules, jobs_, job, child_dice_);
      if (world_.random.chance(30)) jobs_[job].rules.schedule.interval = world_.random.between(300ms, 6000ms);
      apply(job);
      return;
    case 1:
      if (world_.random.chance(25)) {
        remove(job);
      } else {
        pause(job, !paused_[job]);
      }
      return;
    case 2:
    case 3:
      cancel();
      return;
    case 4:
      conflict();
      return;
    case 20:
      drain();
      return;
    case 22:
      freeze();
      return;
    case 21:
      confirm_dead(static_cast<std::size_t>(world_.random.below(static_cast<std::int64_t>(world_.workers.size()))));
      return;
    case 5:
    case 6:
    case 7:
      run_now();
      return;
    default:
      submit(fmt::format("key{:06}", ++keys_));
  }
}

void Clients::apply(std::size_t job) {
  const auto definition = std::make_shared<const model::JobDefinition>(jobs_[job]);
  ask(
      [definition](Token token) -> master::core::Event {
        return master::core::ApplyJob{token, "sim", definition,
                                      *master::store::zones_of(definition->rules.schedule, sim_zone), {}};
      },
      [this, job](const ReplyBody& body) {
        const auto* applied = std::get_if<master::core::JobApplied>(&body);
        if (applied == nullptr) {
          if (!stopped_) world_.after(300ms, [this, job] { apply(job); });
          return;
        }
        world_.trace("applied", jobs_[job].name + " " + std::to_string(applied->job.value) + " v" + std::to_string(applied->version));
        if (applied->version > 1 && applied->changed) world_.marks.hit("job_edited");
        const auto found = world_.store.jobs().find(applied->job);
        const bool lacks_job = found == world_.store.jobs().end() || found->second.version < applied->version;
        if (lacks_job && !world_.store.went_back()) {
          world_.violate("P10: an acknowledged job is not stored");
        }
        if (stopped_) pause_late(job);
      });
}

/// It was made after the last pause had found no such job, and would fire forever.
void Clients::pause_late(std::size_t job) {
  ++pauses_open_;
  pause_at_end(job);
}

void Clients::pause(std::size_t job, bool paused) {
  paused_[job] = paused;
  ask(
      [name = jobs_[job].name, paused](Token token) -> master::core::Event {
        return master::core::SetPaused{token, "sim", "default", name, paused, "sim"};
      },
      [this, paused](const ReplyBody& body) {
        const auto* applied = std::get_if<master::core::JobApplied>(&body);
        if (applied != nullptr && applied->changed) {
          world_.trace(paused ? "paused" : "resumed", std::to_string(applied->job.value) + " v" + std::to_string(applied->version));
          world_.marks.hit(paused ? "job_paused" : "job_resumed");
        }
      });
}

/// Deletes the job, and undeletes it later or creates another with the same name.
void Clients::remove(std::size_t job) {
  ask(
      [name = jobs_[job].name](Token token) -> master::core::Event {
        return master::core::DeleteJob{token, "sim", "default", name, "sim"};
      },
      [this](const ReplyBody& body) {
        if (std::holds_alternative<master::core::JobApplied>(body)) world_.marks.hit("job_deleted");
      });
  const bool comes_back = world_.random.chance(50);
  world_.after(world_.random.between(1000ms, 5000ms), [this, job, comes_back] {
    if (stopped_) return;
    comes_back ? undelete(job) : apply(job);
  });
}

/// Like the API: with the rows of the latest deleted job of that name.
void Clients::undelete(std::size_t job) {
  const model::Job* last = nullptr;
  for (const auto& [id, row] : world_.store.jobs()) {
    const bool is_one = row.name == jobs_[job].name && !row.one_off && row.state == model::JobState::Deleted;
    if (is_one && (last == nullptr || row.changed >= last->changed)) last = &row;
  }
  if (last == nullptr) return apply(job);
  master::core::UndeleteJob event;
  event.principal = "sim";
  event.job = *last;
  event.version = world_.store.tables().versions.at({last->id, last->version});
  event.zone = *master::store::zones_of(event.version.definition->rules.schedule, sim_zone);
  ask(
      [event](Token token) -> master::core::Event {
        master::core::UndeleteJob asked = event;
        asked.token = token;
        return asked;
      },
      [this, job](const ReplyBody& body) {
        if (std::holds_alternative<master::core::JobApplied>(body)) world_.marks.hit("job_undeleted");
        if (!stopped_) world_.after(500ms, [this, job] { apply(job); });
      });
}

void Clients::submit(const std::string& key) {
  Submit& entry = submits_[key];
  if (entry.key.empty()) {
    entry.key = key;
    entry.job = JobId{kOneOffBit + world_.random.below(4)};
  }
  // Like the leader's API thread before it posts: it need not look a key up that is above all that are stored.
  if (world_.random.chance(50)) {
    if (const auto unused = vouch(key)) {
      world_.after(world_.random.between(0ms, 3000ms), [this, key, unused] { post_submit(key, unused); });
      return;
    }
  }
  if (const auto known = world_.store.run_of_key("sim", key)) {
    if (entry.run && entry.run != *known && !world_.store.went_back()) world_.violate("P11: a key has two runs");
    entry.run = *known;
    return;
  }
  if (entry.run && !world_.store.went_back()) world_.violate("P10: an acknowledged submit is not stored");
  post_submit(key, {});
}

/// By a thread of a leader, at this moment; what it saw may be old when the core gets it.
std::optional<master::core::UnusedKeys> Clients::vouch(const std::string& key) {
  for (const auto& master : world_.masters) {
    if (!master->leads() || key <= world_.store.greatest_key("sim")) continue;
    world_.marks.hit("key_vouched_for");
    return master::core::UnusedKeys{*master->epoch(), master->mono()};
  }
  return std::nullopt;
}

void Clients::post_submit(const std::string& key, std::optional<master::core::UnusedKeys> unused) {
  Submit& entry = submits_[key];
  entry.run = {};
  auto definition = std::make_shared<model::JobDefinition>();
  definition->name = "one-off";
  const bool never = entry.job.value % 2 == 0;  // the id represents the definition
  definition->rules.loss = never ? model::LossPolicy::Never : model::LossPolicy::Rerun;
  ask(
      [key, job = entry.job, definition, unused](Token token) -> master::core::Event {
        return master::core::SubmitRuns{token, "sim", {{job, definition, key, "h", nullptr}}, unused};
      },
      [this, key](const ReplyBody& body) { apply_submit(key, body); });
}

void Clients::apply_submit(const std::string& key, const ReplyBody& body) {
  const auto* submitted = std::get_if<master::core::Submitted>(&body);
  if (submitted == nullptr) {
    const auto* error = std::get_if<Error>(&body);
    if (error != nullptr && error->message.starts_with("the request keys must")) world_.marks.hit("vouched_key_refused");
    world_.after(300ms, [this, key] { submit(key); });
    return;
  }
  Submit& entry = submits_[key];
  const auto& item = submitted->items.at(0);
  if (item.repeated) world_.marks.hit("key_repeated");
  if (entry.run && entry.run != item.run && !world_.store.went_back()) world_.violate("P11: a key has two runs");
  entry.run = item.run;
  if (item.error) {
    if (item.error->code == ErrorCode::LimitReached) world_.marks.hit("request_beyond_a_limit");
    world_.after(300ms, [this, key] { submit(key); });
    return;
  }
  if (lacks(item.run)) world_.violate("P10: an acknowledged run is not stored");
  if (world_.random.chance(10)) submit(key);  // asks once more, although it knows the answer
}

void Clients::run_now() {
  const auto job = static_cast<std::size_t>(world_.random.below(static_cast<std::int64_t>(jobs_.size())));
  ask(
      [name = jobs_[job].name](Token token) -> master::core::Event {
        return master::core::RunNow{token, "sim", "default", name, "", "", nullptr};
      },
      [this](const ReplyBody& body) {
        const auto* submitted = std::get_if<master::core::Submitted>(&body);
        if (submitted != nullptr && lacks(submitted->items.at(0).run)) {
          world_.violate("P10: an acknowledged run is not stored");
        }
      });
}

/// The same key twice in one call, with different content the second time.
void Clients::conflict() {
  const std::string key = "again" + std::to_string(++keys_);
  const auto definition = std::make_shared<const model::JobDefinition>();
  ask(
      [key, definition](Token token) -> master::core::Event {
        const JobId job{kOneOffBit + 9};
        return master::core::SubmitRuns{
            token, "sim", {{job, definition, key, "h1", nullptr}, {job, definition, key, "h2", nullptr},
                           {job, definition, key, "h1", nullptr}}};
      },
      [this](const ReplyBody& body) {
        const auto* submitted = std::get_if<master::core::Submitted>(&body);
        if (submitted == nullptr) return;
        const auto& items = submitted->items;
        if (items.at(1).error && items.at(1).error->code == ErrorCode::Conflict) world_.marks.hit("key_conflict");
        if (items.at(2).repeated) world_.marks.hit("key_repeated");
        if (items.at(0).run != items.at(2).run) world_.violate("P11: a key has two runs");
      });
}

void Clients::cancel() {
  std::vector<RunId> open;
  for (auto at = world_.store.runs().rbegin(); at != world_.store.runs().rend() && open.size() < 20; ++at) {
    if (!model::is_final(at->second.progress.state)) open.push_back(at->first);
  }
  if (open.empty()) return;
  const RunId run = open[static_cast<std::size_t>(world_.random.below(static_cast<std::int64_t>(open.size())))];
  ask([run](Token token) -> master::core::Event { return master::core::CancelRun{token, "sim", run, ""}; },
      [this, run](const ReplyBody& body) {
        if (!std::holds_alternative<master::core::CancelTaken>(body)) return;
        if (world_.store.is_lost(run) || world_.store.is_tainted(run)) return;
        const model::RunProgress& progress = world_.store.runs().at(run).progress;
        if (!progress.cancel_asked && !model::is_final(progress.state)) {
          world_.violate("P10: an acknowledged cancel is not stored");
        }
        cancelled_.insert(run);
      });
}

void Clients::stop() {
  stopped_ = true;
  calendars_.stop();
  semaphores_.stop();
  quotas_.stop();
  scaling_.stop();
  settings_.stop();
  confirm_what_waits();
  for (std::size_t worker = 0; worker < world_.workers.size(); ++worker) ask_drain(worker, false, 0ms);
  pauses_open_ = jobs_.size();
  pause_all();
}

void Clients::pause_all() {
  for (std::size_t i = 0; i < jobs_.size(); ++i) pause_at_end(i);
}

void Clients::pause_at_end(std::size_t job) {
  ask(
      [name = jobs_[job].name](Token token) -> master::core::Event {
        return master::core::SetPaused{token, "sim", "default", name, true, "end"};
      },
      [this, job](const ReplyBody& body) {
        const auto* error = std::get_if<Error>(&body);
        if (error == nullptr || error->code == ErrorCode::NotFound) {
          --pauses_open_;
        } else if (world_.limits.inbox_requests < 10) {
          world_.after(300ms, [this, job] { pause_at_end(job); });
        } else {
          world_.violate("a healed world refuses a pause: " + error->message + jobs_[job].name);
        }
      });
}

bool Clients::is_quiet() const {
  if (pauses_open_ > 0 || !semaphores_.is_quiet() || !quotas_.is_quiet()) return false;
  if (!settings_.is_quiet() || !scaling_.is_quiet()) return false;
  return std::all_of(submits_.begin(), submits_.end(), [](const auto& s) { return bool(s.second.run); });
}

bool Clients::lacks(RunId run) const {
  return !world_.store.runs().contains(run) && !world_.store.went_back();
}

std::string Clients::judge() const {
  for (const RunId run : cancelled_) {
    if (world_.store.is_lost(run) || world_.store.is_tainted(run)) continue;
    const model::RunProgress& progress = world_.store.runs().at(run).progress;
    if (!progress.cancel_asked && progress.ended == std::nullopt) {
      return "P10: the cancel of run " + std::to_string(run.value) + " got lost";
    }
  }
  for (const auto& [key, submit] : submits_) {
    if (world_.store.went_back()) break;
    if (world_.store.run_of_key("sim", key) != submit.run) return "P10/P11: key " + key + " has another run, or none";
  }
  return "";
}

}  // namespace rota::sim
