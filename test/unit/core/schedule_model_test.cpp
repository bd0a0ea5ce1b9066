// Random jobs with entries, edits, clock steps and outages, held against a reference that looks at each tenth of a
// second by itself. ROTA_MODEL_EVENTS and ROTA_MODEL_SEED give more of it: a million events take about a minute.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include <fmt/format.h>

#include "common/base/duration_text.h"
#include "harness.h"

namespace rota::test {
namespace {

using namespace std::chrono_literals;
using model::LatePolicy;

constexpr std::int64_t kStep = 100;  // every moment that is planned here is a whole tenth of a second

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

/// One entry: as it is applied, and whether it is due at a moment, told by nothing but arithmetic.
struct Plain {
  std::string line;
  std::function<bool(std::int64_t ms, std::int64_t anchor)> is_due;
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t from_to(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return from_to(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

std::int64_t clock_of(std::int64_t ms) { return ms % 86'400'000; }

Plain rate(Dice& dice, std::int64_t now) {
  const std::int64_t every = dice.from_to(3, 90) * kStep;
  if (dice.chance(50)) {
    return {fmt::format("every {}ms", every),
            [every](std::int64_t ms, std::int64_t anchor) { return ms > anchor && (ms - anchor) % every == 0; }};
  }
  const std::int64_t start = now - now % 1000 + dice.from_to(-500, 500) * 1000;
  return {fmt::format("every {}ms; start {}", every, format_moment(wall_from_ms(start))),
          [every, start](std::int64_t ms, std::int64_t) { return ms >= start && (ms - start) % every == 0; }};
}

Plain cron(Dice& dice) {
  const std::int64_t second = dice.from_to(0, 59), each = dice.from_to(2, 30);
  if (dice.chance(60)) {
    return {fmt::format("cron */{} * * * * *", each),
            [each](std::int64_t ms, std::int64_t) { return ms % 1000 == 0 && ms / 1000 % 60 % each == 0; }};
  }
  return {fmt::format("cron {} */{} * * * *", second, each), [second, each](std::int64_t ms, std::int64_t) {
            return ms % 1000 == 0 && ms / 1000 % 60 == second && ms / 60'000 % 60 % each == 0;
          }};
}

Plain once(Dice& dice, std::int64_t now) {
  const std::int64_t at = now - now % kStep + dice.from_to(-50, 3000) * kStep;
  return {"at " + format_moment(wall_from_ms(at)), [at](std::int64_t ms, std::int64_t) { return ms == at; }};
}

Plain with_hours(Dice& dice, Plain plain) {
  const std::int64_t from = dice.from_to(0, 1439), to = dice.from_to(0, 1439);
  if (from == to) return plain;
  plain.line += fmt::format("; between {:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60);
  plain.is_due = [inner = plain.is_due, from, to](std::int64_t ms, std::int64_t anchor) {
    const std::int64_t clock = clock_of(ms);
    const bool is_late = clock >= from * 60'000, is_early = clock <= to * 60'000;
    return (from < to ? is_late && is_early : is_late || is_early) && inner(ms, anchor);
  };
  return plain;
}

Plain random_entry(Dice& dice, std::int64_t now) {
  const std::int64_t kind = dice.from_to(0, 9);
  if (kind == 0) return once(dice, now);
  Plain out = kind < 5 ? rate(dice, now) : cron(dice);
  if (dice.chance(25)) out = with_hours(dice, std::move(out));
  if (!dice.chance(10) || out.line.find("start") != std::string::npos) return out;  // none may end before it
  const std::int64_t end = now + dice.from_to(1, 600) * 1000;
  out.line += "; end " + format_moment(wall_from_ms(end - end % 1000));
  out.is_due = [inner = out.is_due, end](std::int64_t ms, std::int64_t anchor) {
    return ms <= end - end % 1000 && inner(ms, anchor);
  };
  return out;
}

struct Job {
  std::string name;
  JobId id;
  std::vector<Plain> entries;
  LatePolicy late = LatePolicy::FireOnce;
  Millis grace{0};
  std::int32_t firings = 0;
  std::int32_t edits = 0;
  // by version: what it plans, and by which anchor
  std::map<JobVersion, std::pair<std::vector<Plain>, std::int64_t>> plans;
  WallTime checked{};
};

class World {
 public:
  explicit World(std::uint64_t seed) : dice_(seed) {
    start_term(std::make_unique<Harness>());
    for (int i = 0; i < 5; ++i) create();
  }

  std::int64_t events() const { return events_; }

  void step() {
    const std::int64_t what = dice_.from_to(0, 19);
    if (what == 0) return outage();
    if (what == 1) return clock_step();
    if (what <= 4) edit(jobs_[static_cast<std::size_t>(dice_.from_to(0, static_cast<std::int64_t>(jobs_.size()) - 1))]);
    if (what == 5) {
      Job& job = jobs_[static_cast<std::size_t>(dice_.from_to(0, static_cast<std::int64_t>(jobs_.size()) - 1))];
      const bool is_paused = h().jobs.at(job.id).state == model::JobState::Paused;
      h().pause(job.name, !is_paused);
      carry_plans(job);
    }
    check({});
    h().advance(Millis{dice_.from_to(1, 300) * kStep});
    end_runs();
    check({});
  }

 private:
  Harness& h() { return *term_; }

  void start_term(std::unique_ptr<Harness> next) {
    term_ = std::move(next);
    h().join(a_worker("w1", 100'000, fmt::format("i{}", ++lives_)));
  }

  /// Nobody leads for a while; then another one takes over.
  void outage() {
    auto next = std::make_unique<Harness>(h().recovered(), master::core::CoreOptions{}, Epoch{h().epoch.value + 1});
    next->now = h().now;
    next->versions = h().versions;
    next->runs = h().runs;
    next->jobs = h().jobs;
    const Millis away{dice_.from_to(1, 3000) * kStep};
    next->now.wall += away;
    next->now.mono += away;
    term_ = std::move(next);
    catch_up();
    h().join(a_worker("w1", 100'000, fmt::format("i{}", ++lives_)));
    end_late_runs();
  }

  /// Behind the core's time nothing happens until the clock has caught up.
  void clock_step() {
    const Millis by{dice_.from_to(-200, 1500) * kStep};
    h().jump_wall(by);
    if (by >= 0ms) {
      catch_up();
      return end_late_runs();
    }
    h().advance(100ms - by);
    end_runs();
    check({});
  }

  void catch_up() {
    do {
      h().tick();
    } while (h().scheduler->next_wake(h().now) == Millis{0});
    check(h().now.wall);
  }

  /// They are caught up one by one; one that still waits would stand for the late ticks of the next time too.
  void end_late_runs() {
    for (int i = 0; i < 10; ++i) {
      h().advance(Millis{kStep});
      end_runs();
    }
    check({});
  }

  void end_runs() {
    for (const auto& item : h().pop_dispatches()) {
      h().accept(item.attempt.run);
      h().report(item.attempt.run, model::RunState::Succeeded);
    }
  }

  JobBuilder built(const Job& job) const {
    std::vector<std::string> lines;
    for (const Plain& entry : job.entries) lines.push_back(entry.line);
    return a_job(job.name).entries(lines).overlap(model::Overlap::Allow).late(job.late).grace(job.grace)
        .firings(job.firings).described(std::to_string(job.edits));
  }

  void fill(Job& job) {
    job.entries.clear();
    const std::int64_t now = to_ms(h().now.wall);
    for (std::int64_t left = dice_.from_to(1, 4); left > 0; --left) job.entries.push_back(random_entry(dice_, now));
  }

  void create() {
    Job job;
    job.name = fmt::format("job{}", jobs_.size());
    fill(job);
    job.late = dice_.chance(60) ? LatePolicy::FireOnce : LatePolicy::Skip;
    job.grace = Millis{dice_.from_to(5, 300) * kStep};
    if (dice_.chance(30)) job.firings = static_cast<std::int32_t>(dice_.from_to(20, 400));
    job.id = h().apply(built(job));
    job.checked = h().jobs.at(job.id).created;
    job.plans[1] = {job.entries, to_ms(h().versions.at({job.id, 1}).anchor)};
    CHECK(job.plans[1].second == to_ms(job.checked));
    jobs_.push_back(std::move(job));
  }

  /// A fixed rate counts on from where it did unless the entries change.
  void edit(Job& job) {
    const bool is_other = dice_.chance(60);
    if (is_other) fill(job);
    ++job.edits;
    carry_plans(job);
    const auto before = job.plans.rbegin()->second;
    h().apply(built(job));
    const JobVersion version = h().jobs.at(job.id).version;
    const auto& row = h().versions.at({job.id, version});
    carry_plans(job);
    job.plans[version] = {job.entries, is_other ? to_ms(row.valid_from) : before.second};
  }

  /// Pausing and resuming make versions too, with the plan of the one before.
  void carry_plans(Job& job) {
    for (JobVersion v = job.plans.rbegin()->first + 1; v <= h().jobs.at(job.id).version; ++v)
      job.plans[v] = job.plans[v - 1];
  }

  WallTime recorded(const Job& job) {
    WallTime out = std::max(h().watermark ? h().watermark->of(job.id) : WallTime{},
                            h().jobs.at(job.id).ticks_through.value_or(WallTime{}));
    for (auto at = h().versions.lower_bound({job.id, 0}); at != h().versions.end() && at->first.first == job.id; ++at) {
      if (at->second.valid_to) out = std::max(out, *at->second.valid_to);
    }
    return out;
  }

  /// `late_at`: ticks were recorded at that moment after nobody had looked for a while.
  void check(std::optional<WallTime> late_at) {
    for (auto& [id, run] : h().runs) {
      if (run.tick && run.id > newest_) fired_[{run.job, *run.tick}].push_back(id);
    }
    if (!h().runs.empty()) newest_ = std::max(newest_, h().runs.rbegin()->first);
    for (Job& job : jobs_) check_job(job, late_at);
    fired_.clear();
    h().gaps.clear();
    forget_ended();
  }

  void check_job(Job& job, std::optional<WallTime> late_at) {
    carry_plans(job);
    const WallTime through = recorded(job);
    std::map<WallTime, JobVersion> planned;
    for (auto at = h().versions.lower_bound({job.id, 0}); at != h().versions.end() && at->first.first == job.id; ++at) {
      const model::JobVersionRow& row = at->second;
      if (!row.enabled) continue;
      const WallTime first = std::max(row.valid_from, job.checked), last = std::min(row.valid_to.value_or(through), through);
      const std::vector<Plain>& entries = job.plans.at(row.version).first;
      const std::int64_t anchor = job.plans.at(row.version).second;
      std::int64_t ms = to_ms(first) - to_ms(first) % kStep + kStep;
      if (to_ms(first) % kStep != 0) ms = to_ms(first) + (kStep - to_ms(first) % kStep);
      for (; ms <= to_ms(last); ms += kStep) {
        const bool is_due = std::ranges::any_of(entries, [&](const Plain& entry) { return entry.is_due(ms, anchor); });
        if (is_due) planned[wall_from_ms(ms)] = row.version;
      }
    }
    compare(job, planned, late_at);
    job.checked = std::max(job.checked, through);
  }

  void compare(const Job& job, const std::map<WallTime, JobVersion>& planned, std::optional<WallTime> late_at) {
    const WallTime edge = late_at ? *late_at - job.grace - 1ms : WallTime{};
    std::optional<WallTime> newest_late;
    for (const auto& [tick, version] : planned) {
      if (tick <= edge) newest_late = tick;
    }
    std::size_t runs = 0;
    for (const auto& each : planned) {
      const WallTime tick = each.first;
      const JobVersion version = each.second;
      ++events_;
      const auto found = fired_.find({job.id, tick});
      const std::size_t fired = found == fired_.end() ? 0 : found->second.size();
      runs += fired;
      const bool stands_for_others = job.late == LatePolicy::FireOnce && tick == newest_late;
      const bool fires = tick > edge || stands_for_others;
      const auto covers = std::ranges::count_if(h().gaps, [&](const model::Gap& gap) {
        return gap.job == job.id && gap.version == version && gap.from <= tick && tick <= gap.to;
      });
      const bool is_right = fired == (fires ? 1 : 0) && covers == (fires ? 0 : 1);
      CHECK_MESSAGE(is_right, job.name << " tick " << to_ms(tick) << " version " << version << ": " << fired << " runs and "
                                       << covers << " gaps, it should " << (fires ? "fire" : "be in a gap"));
    }
    std::size_t all = 0;
    for (auto at = fired_.lower_bound({job.id, WallTime{}}); at != fired_.end() && at->first.first == job.id; ++at)
      all += at->second.size();
    CHECK_MESSAGE(all == runs, job.name << ": " << all << " ticks fired, " << runs << " of them were planned");
  }

  /// The harness keeps all runs; a long model does not need them.
  void forget_ended() {
    std::erase_if(h().runs, [](const auto& run) { return model::is_final(run.second.progress.state); });
    h().notices.clear();
    h().attempts.clear();
  }

  Dice dice_;
  std::unique_ptr<Harness> term_;
  std::vector<Job> jobs_;
  std::map<std::pair<JobId, WallTime>, std::vector<RunId>> fired_;
  RunId newest_{};
  std::int64_t events_ = 0;
  int lives_ = 0;
};

}  // namespace

TEST_CASE("schedule model: each planned tick is one run or in one gap, whatever happens to jobs, clocks and leaders") {
  const auto seed = static_cast<std::uint64_t>(from_environment("ROTA_MODEL_SEED", 20261122));
  const std::int64_t wanted = from_environment("ROTA_MODEL_EVENTS", 20'000);
  MESSAGE("seed ", seed);
  std::int64_t events = 0;
  for (std::uint64_t round = 0; events < wanted; ++round) {
    World world(seed + round);
    for (int i = 0; i < 300 && events + world.events() < wanted; ++i) world.step();
    events += world.events();
  }
  MESSAGE("events ", events);
}

}  // namespace rota::test
