// Child jobs against a reference of a few lines: random graphs of jobs, runs by hand and ticks, ends of all kinds,
// retries, cancels, edits, pauses, deletions, and takeovers, some of them between an end and the children that it
// owes. After each event each run that has ended has exactly the children that the reference says, and no other run
// is a child.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness.h"
#include "master/core/graph/child_rules.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::Reason;
using model::RunState;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
constexpr std::int64_t kEvents = 20'000;
#else
constexpr std::int64_t kEvents = 200'000;  // ROTA_CHILD_EVENTS asks for more
#endif
constexpr std::int64_t kEventsOfWorld = 2'000;
constexpr std::int64_t kMostRuns = 60;     // unfinished ones of a world
constexpr int kDeepest = 16;               // docs/children.md

std::int64_t number_from(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

// --- the reference: what docs/children.md says

struct Names {
  std::vector<std::string> success, failure, end;
  bool any() const { return !success.empty() || !failure.empty() || !end.empty(); }
};

std::set<std::string> due_after(const Names& names, RunState state) {
  std::set<std::string> out;
  const bool failed = state == RunState::Failed || state == RunState::TimedOut || state == RunState::Lost ||
                      state == RunState::KillFailed;
  if (state == RunState::Succeeded) out.insert(names.success.begin(), names.success.end());
  if (failed) out.insert(names.failure.begin(), names.failure.end());
  if (state != RunState::Skipped) out.insert(names.end.begin(), names.end.end());
  return out;
}

struct RefJob {
  Names names;                             ///< of its newest version
  bool there = false, paused = false;
};

struct RefRun {
  std::string job;
  Names names;                             ///< when it began
  int depth = 0;
  RunId root;
};

// --- the world

class World {
 public:
  explicit World(std::uint64_t seed) : dice_(seed) {
    options_.children_at_most = static_cast<std::int32_t>(pick(1, 12));
    h_ = std::make_unique<Harness>(Recovered{}, options_);
    worker_ = h_->join(a_worker("w", kSlots));
    for (std::int64_t i = 0, jobs = pick(2, 7); i < jobs; ++i) names_.push_back("j" + std::to_string(i));
    for (auto name = names_.rbegin(); name != names_.rend(); ++name) apply(*name);
  }

  void act() {
    ++events;
    if (pick(0, 3) == 0) {
      advance();
      compare();
    }
    switch (pick(0, 15)) {
      case 0: case 1: case 2: by_hand(); break;
      case 3: case 4: case 5: case 6: case 7: end_some(); break;
      case 8: end_at_once(); break;
      case 9: cancel_one(); break;
      case 10: case 11: apply(any_name()); break;
      case 12: pause(); break;
      case 13: remove(); break;
      case 14: repeat_a_report(); break;
      case 15: pick(0, 3) == 0 ? take_over() : end_some(); break;
    }
    compare();
    if (!h_->owed.empty() && pick(0, 3) == 0) {
      take_over();
      compare();
    }
  }

  std::int64_t events = 0, children = 0, without_run = 0, skipped = 0, takeovers = 0, owed_at_takeover = 0,
               too_deep = 0, refused = 0;

 private:
  static constexpr std::int32_t kSlots = 40;

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(dice_() % static_cast<std::uint64_t>(to - from + 1));
  }
  const std::string& any_name() { return names_[static_cast<std::size_t>(pick(0, std::ssize(names_) - 1))]; }

  /// Mostly of jobs behind it in the list: these make no circle.
  std::vector<std::string> random_names(const std::string& own) {
    std::set<std::string> out;
    for (std::int64_t i = pick(-2, 3); i > 0; --i) {
      const std::string& name = any_name();
      if (name > own || pick(0, 19) == 0) out.insert(name);
    }
    return {out.begin(), out.end()};
  }

  Names random_children(const std::string& own) {
    Names names{random_names(own), random_names(own), {}};
    for (const std::string& name : random_names(own)) {
      const auto has = [&](const std::vector<std::string>& all) { return std::ranges::count(all, name) > 0; };
      if (!has(names.success) && !has(names.failure)) names.end.push_back(name);
    }
    return names;
  }

  /// By a walk over the reference: whether a way leads from these back to the job.
  bool leads_to(const Names& names, const std::string& job) const {
    std::vector<std::string> todo;
    std::set<std::string> seen;
    const auto add = [&](const Names& from) {
      for (const auto* list : {&from.success, &from.failure, &from.end}) todo.insert(todo.end(), list->begin(), list->end());
    };
    add(names);
    while (!todo.empty()) {
      const std::string next = todo.back();
      todo.pop_back();
      if (next == job) return true;
      const auto found = jobs_.find(next);
      if (found != jobs_.end() && found->second.there && seen.insert(next).second) add(found->second.names);
    }
    return false;
  }

  bool are_there(const Names& names) const {
    for (const auto* list : {&names.success, &names.failure, &names.end}) {
      for (const std::string& name : *list) {
        const auto found = jobs_.find(name);
        if (found == jobs_.end() || !found->second.there) return false;
      }
    }
    return true;
  }

  void apply(const std::string& name) {
    const Names names = random_children(name);
    RefJob& job = jobs_[name];
    ApplyJob event;
    event.token = Token{1};
    event.principal = "tester";
    JobBuilder builder = a_job(name).on_success(names.success).on_failure(names.failure).on_end(names.end)
                             .retries(pick(0, 3) == 0 ? 1 : 0, 1s)
                             .overlap(pick(0, 2) == 0 ? Overlap::Queue : pick(0, 3) == 0 ? Overlap::Replace : Overlap::Allow)
                             .described(std::to_string(++edits_));
    if (pick(0, 5) == 0) builder.every(20s);
    event.definition = builder.build();
    event.zone = std::make_shared<const model::ZoneRules>();
    h_->handle(event);
    const bool is_fine = are_there(names) && !leads_to(names, name);
    const auto* error = std::get_if<Error>(&h_->last.replies.at(0).body);
    if ((error == nullptr) != is_fine) FAIL("an edit is taken or refused unlike the reference");
    if (error != nullptr) {
      ++refused;
      return;
    }
    const auto& applied = std::get<JobApplied>(h_->last.replies.at(0).body);
    versions_[{applied.job, applied.version}] = names;
    if (!job.there) job.paused = false;
    job.there = true;
    job.names = names;
  }

  void pause() {
    const std::string& name = any_name();
    if (!jobs_[name].there || (!jobs_[name].paused && pick(0, 3) > 0)) return;
    jobs_[name].paused = !jobs_[name].paused;
    h_->pause(name, jobs_[name].paused);
  }

  void remove() {
    const std::string& name = any_name();
    if (!jobs_[name].there || pick(0, 2) > 0) return;
    bool is_named = false;
    for (const auto& [other, job] : jobs_) {
      if (!job.there) continue;
      for (const auto* list : {&job.names.success, &job.names.failure, &job.names.end}) {
        is_named = is_named || std::ranges::count(*list, name) > 0;
      }
    }
    h_->handle(DeleteJob{Token{2}, "tester", "default", name, ""});
    if (std::holds_alternative<Error>(h_->last.replies.at(0).body) != is_named) FAIL("a job is deleted unlike the reference");
    jobs_[name].there = is_named;
  }

  void by_hand() {
    const std::string& name = any_name();
    if (jobs_[name].there && std::ssize(open()) < kMostRuns) h_->run_now(name);
  }

  void advance() {
    const Millis step = h_->scheduler->next_wake(h_->now).value_or(1s);
    h_->now.wall += std::min<Millis>(step, 2s);
    h_->now.mono += std::min<Millis>(step, 2s);
    h_->tick();
  }

  std::vector<RunId> open() const {
    std::vector<RunId> out;
    for (const auto& [id, run] : h_->runs) {
      if (!model::is_final(run.progress.state)) out.push_back(id);
    }
    return out;
  }

  std::vector<RunId> held() const {
    std::vector<RunId> out;
    for (const auto& [id, run] : h_->runs) {
      if (run.progress.state == RunState::Dispatched || run.progress.state == RunState::Running) out.push_back(id);
    }
    return out;
  }

  model::AttemptReport end_of(RunId id) {
    const RunState ends[] = {RunState::Succeeded, RunState::Succeeded, RunState::Succeeded, RunState::Failed,
                             RunState::TimedOut, RunState::KillFailed};
    model::AttemptReport line;
    line.key = h_->attempt(id);
    line.worker = h_->run(id).progress.worker;
    line.what = model::AttemptReport::What::Finished;
    line.outcome = ended_as(ends[pick(0, 5)]);
    if (line.outcome.state == RunState::KillFailed) {
      line.outcome.reason = Reason::CleanupFailed;  // which keeps its slot
    }
    return line;
  }

  void report(std::vector<model::AttemptReport> lines) {
    if (lines.empty()) return;
    told_ = lines;
    h_->handle(Reported{Token{77}, worker_, std::move(lines)});
  }

  void end_some() {
    std::vector<model::AttemptReport> lines;
    for (const RunId id : held()) {
      if (pick(0, 2) == 0) lines.push_back(end_of(id));
    }
    report(std::move(lines));
  }

  void end_at_once() {
    std::vector<model::AttemptReport> lines;
    for (const RunId id : held()) lines.push_back(end_of(id));
    report(std::move(lines));
  }

  void repeat_a_report() {
    const auto lines = told_;
    report(lines);
  }

  void cancel_one() {
    const auto all = open();
    if (all.empty()) return;
    const RunId id = all[static_cast<std::size_t>(pick(0, std::ssize(all) - 1))];
    h_->cancel(id);
    if (model::is_final(h_->state(id)) || pick(0, 1) == 0) return;
    model::AttemptReport line = end_of(id);
    line.outcome.state = RunState::Killed;
    line.outcome.reason = Reason::CancelledByUser;
    report({line});
  }

  void take_over() {
    ++takeovers;
    owed_at_takeover += std::ssize(h_->owed);
    model::Inventory all;
    all.worker = worker_;
    for (const RunId id : held()) {
      all.attempts.push_back({h_->attempt(id), model::HeldAttempt::State::Running, {}, {}});
    }
    const Epoch epoch{h_->epoch.value + 1};
    auto versions = h_->versions;
    Recovered from = h_->recovered();
    for (const model::Run& run : from.runs) {  // as the store does
      JobVersion version = run.version;
      while (h_->versions.at({run.job, version}).definition == nullptr) --version;
      const auto& definition = *h_->versions.at({run.job, version}).definition;
      from.older_rules.push_back({run.job, run.version, std::make_shared<const KeptRules>(definition)});
    }
    auto next = std::make_unique<Harness>(std::move(from), options_, epoch, h_->now);
    next->versions = std::move(versions);
    next->jobs = h_->jobs;
    next->children = h_->children;  // a row that comes once more is one too many
    next->runs.insert(h_->runs.begin(), h_->runs.end());  // those that owe are looked at again
    h_ = std::move(next);
    all.highest_epoch = epoch;
    h_->handle(WorkerSeen{a_worker("w", kSlots)});
    h_->listed();
    h_->handle(HelloAnswered{all});
  }

  /// Of a run that is new: an edit records the ticks that are due by the version before.
  void learn(const model::Run& row) {
    RefRun ref;
    for (const auto& [id, job] : h_->jobs) {
      if (id == row.job) ref.job = job.name;
    }
    ref.names = std::prev(versions_.upper_bound({row.job, row.version}))->second;  // a pause makes one too
    ref.root = row.id;
    if (row.kind == model::RunKind::Child) {
      const RunId parent_id{std::strtoll(row.request_key.c_str() + 6, nullptr, 10)};
      if (row.request_key != "child/" + std::to_string(parent_id.value) + "/" + ref.job) FAIL("another key");
      const auto cause = h_->children.find({parent_id, ref.job});
      if (cause == h_->children.end() || !runs_.contains(parent_id)) FAIL("a child without a parent");
      const model::ChildRow& child = cause->second;
      const RefRun& parent = runs_.at(parent_id);
      ref.depth = parent.depth + 1;
      ref.root = parent.root;
      if (child.run != row.id || child.depth != ref.depth || child.root != ref.root) FAIL("another place in the tree");
      const bool is_paused = jobs_.at(ref.job).paused;
      if ((row.progress.reason == Reason::ChildTooDeep) != (ref.depth > kDeepest)) FAIL("cut at another depth");
      if (ref.depth <= kDeepest && (row.progress.reason == Reason::JobPaused) != is_paused) FAIL("paused or not");
      too_deep += ref.depth > kDeepest ? 1 : 0;
      skipped += row.progress.state == RunState::Skipped ? 1 : 0;
    }
    runs_[row.id] = ref;
  }

  /// Each run that has ended has one row for each name that is due, or is owed whole; no other row stands.
  void judge_end(const model::Run& row) {
    const auto due = due_after(runs_.at(row.id).names, row.progress.state);
    const auto owed = h_->owed.find(row.id);
    if (owed != h_->owed.end()) {
      std::set<std::string> names;
      for (const auto& child : owed->second.children) names.insert(child.name);
      if (names != due) FAIL("run " << row.id.value << " owes others than the reference says");
      if (has_any(row.id)) FAIL("a run has children and owes them too");
      return;
    }
    std::set<std::string> found;
    for (auto at = h_->children.lower_bound({row.id, ""}); at != h_->children.end() && at->first.first == row.id; ++at) {
      found.insert(at->first.second);
      ++children;
      without_run += at->second.run == RunId{} ? 1 : 0;
      const bool has_job = at->second.run != RunId{};
      if (!has_job && at->second.reason != Reason::NoSuchJob) FAIL("no run, and no reason");
    }
    if (found != due) {
      std::string words;
      for (const std::string& name : found) words += " has " + name;
      for (const std::string& name : due) words += " wants " + name;
      FAIL("run " << row.id.value << " of " << runs_.at(row.id).job << " (" << name_of(row.kind) << ", version "
                  << row.version << ", " << name_of(row.progress.state) << ") in Term " << h_->epoch.value << ":"
                  << words);
    }
    judged_.insert(row.id);
  }

  bool has_any(RunId parent) const {
    const auto at = h_->children.lower_bound({parent, ""});
    return at != h_->children.end() && at->first.first == parent;
  }

  void compare() {
    for (const auto& [id, row] : h_->runs) {
      if (!runs_.contains(id)) learn(row);
    }
    std::vector<RunId> ended;
    for (const auto& [id, row] : h_->runs) {
      if (model::is_final(row.progress.state)) ended.push_back(id);
    }
    for (const RunId id : ended) judge_end(h_->run(id));
    for (const RunId id : judged_) h_->runs.erase(id);  // so that a world stays small
    judged_.clear();
    h_->pop_dispatches();
    h_->pop_hellos();
    h_->pop_cancels();
    h_->gaps.clear();
    h_->attempts.clear();
    h_->notices.clear();
  }

  std::mt19937_64 dice_;
  std::unique_ptr<Harness> h_;
  model::WorkerKey worker_;
  std::vector<std::string> names_;
  std::map<std::string, RefJob> jobs_;
  std::map<std::pair<JobId, JobVersion>, Names> versions_;
  std::map<RunId, RefRun> runs_;
  std::set<RunId> judged_;
  CoreOptions options_;
  std::vector<model::AttemptReport> told_;
  std::int64_t edits_ = 0;
};

}  // namespace

TEST_CASE("children: a model of random graphs of jobs agrees with the core") {
  auto seed = static_cast<std::uint64_t>(number_from("ROTA_CHILD_SEED", 1));
  const std::int64_t wanted = number_from("ROTA_CHILD_EVENTS", kEvents);
  std::int64_t events = 0, children = 0, without = 0, skipped = 0, takeovers = 0, owed = 0, deep = 0, refused = 0;
  for (; events < wanted; ++seed) {
    INFO("ROTA_CHILD_SEED=", seed);
    World world(seed);
    while (world.events < kEventsOfWorld) world.act();
    events += world.events;
    children += world.children;
    without += world.without_run;
    skipped += world.skipped;
    takeovers += world.takeovers;
    owed += world.owed_at_takeover;
    deep += world.too_deep;
    refused += world.refused;
  }
  MESSAGE("child model: ", events, " events, ", children, " children, ", without, " without a run, ", skipped,
          " skipped, ", takeovers, " takeovers, ", owed, " owed then, ", deep, " too deep, ", refused,
          " edits refused, last seed ", seed - 1, ", 0 differences");
}
