#include "master/upkeep/run_retention.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "common/base/log.h"

namespace rota::master {
namespace {

constexpr Millis kTellEvery{10'000};

void expect_no_more(std::map<JobId, WallTime>& moments, JobId job, WallTime tick) {
  WallTime& moment = moments[job];
  moment = std::max(moment, tick);
}

}  // namespace

Millis pause_behind(Millis took, Millis at_least) { return std::max(at_least, took / 4); }

RunRetention::RunRetention(Stores stores, const Clock& clock, std::function<bool()> holds,
                           RunRetentionOptions options)
    : stores_(stores),
      clock_(clock),
      holds_(std::move(holds)),
      wanted_(options),
      options_(options),
      rounds_({[this] { take_options(); }, [this] { return round_and_tell(); }}, options.pause_in_pass) {}

void RunRetention::set_options(const RunRetentionOptions& options) {
  {
    std::scoped_lock lock(options_mutex_);
    wanted_ = options;
  }
  rounds_.begin_anew();
}

/// What was found due by others is found again, or not any more.
void RunRetention::take_options() {
  {
    std::scoped_lock lock(options_mutex_);
    options_ = wanted_;
  }
  begin_anew();
}

/// What was found due in an earlier time in office is found again, unless the database went back meanwhile.
void RunRetention::begin_anew() {
  deleting_.clear();
  after_ = RunId{};
  gaps_after_ = {};
  all_runs_seen_ = all_gaps_seen_ = false;
  shortest_keep_.reset();
}

Result<void> RunRetention::begin_pass() {
  const auto of_a_job = stores_.history.shortest_keep();
  if (!of_a_job) return fail(of_a_job.error());
  const Millis by_default = options_.keep_runs;
  shortest_keep_ = by_default == Millis{0} ? of_a_job->value_or(Millis{0})
                                           : std::min(by_default, of_a_job->value_or(by_default));
  all_runs_seen_ = all_gaps_seen_ = *shortest_keep_ == Millis{0};  // everything is kept forever
  return {};
}

/// First it is noted that rows of these ticks are not expected any more, then they are deleted: `rota verify`
/// sees no hole at any moment.
Result<void> RunRetention::look_at_runs(Round& done) {
  const auto runs = stores_.history.past_runs(after_, options_.rows_per_round);
  if (!runs) return fail(runs.error());
  const WallTime now = clock_.wall();
  std::vector<store::PastRun> due;
  std::vector<RunId> ids;
  std::map<JobId, WallTime> moments;
  // Runs are numbered as they are recorded: behind a page of young ones there are only younger ones.
  bool all_young = true;
  for (const store::PastRun& run : *runs) {
    all_young = all_young && run.recorded + *shortest_keep_ > now;
    if (!run.is_final || !is_past(run.ended, run.keep_runs, options_.keep_runs, now)) continue;
    due.push_back(run);
    ids.push_back(run.run);
    if (run.tick) expect_no_more(moments, run.job, *run.tick);
  }
  if (auto told = stores_.history.forget_through(moments); !told) return told;
  if (auto noted = note_pruned(ids, now); !noted) return noted;
  all_runs_seen_ = all_young || runs->size() < static_cast<std::size_t>(options_.rows_per_round);
  if (!runs->empty()) after_ = runs->back().run;
  done.runs = due.size();
  deleting_ = std::move(due);
  return {};
}

/// Of those that have any output: most have none, or it has gone before them.
Result<void> RunRetention::note_pruned(const std::vector<RunId>& runs, WallTime now) {
  const auto bytes = stores_.logs.bytes_of(runs);
  if (!bytes) return fail(bytes.error());
  std::vector<RunId> with_output;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (bytes->at(i) > 0) with_output.push_back(runs[i]);
  }
  return stores_.notes.note_pruned(with_output, now);
}

Result<void> RunRetention::look_at_gaps(Round& done) {
  const auto gaps = stores_.history.past_gaps(gaps_after_, options_.rows_per_round);
  if (!gaps) return fail(gaps.error());
  const WallTime now = clock_.wall();
  std::vector<store::GapKey> due;
  std::map<JobId, WallTime> moments;
  for (const store::PastGap& gap : *gaps) {
    if (!is_past(gap.to, gap.keep_runs, options_.keep_runs, now)) continue;
    due.push_back(gap.key);
    expect_no_more(moments, gap.key.job, gap.to);
  }
  if (auto told = stores_.history.forget_through(moments); !told) return told;
  if (auto erased = stores_.history.erase_gaps(due); !erased) return erased;
  all_gaps_seen_ = gaps->size() < static_cast<std::size_t>(options_.rows_per_round);
  if (!gaps->empty()) gaps_after_ = gaps->back().key;
  done.gaps = due.size();
  return {};
}

/// The output first: once the run is deleted nobody knows whose output it was.
Result<void> RunRetention::delete_some(Round& done) {
  if (deleting_.empty()) return {};
  std::vector<RunId> ids;
  for (const store::PastRun& run : deleting_) ids.push_back(run.run);
  done.is_deleting = true;
  for (int i = 0; i < options_.deletes_per_round; ++i) {
    const auto has_more = stores_.logs.erase(ids, options_.chunks_per_delete);
    if (!has_more) return fail(has_more.error());
    if (*has_more) continue;
    if (auto erased = erase_runs(); !erased) return erased;
    done.is_deleting = false;
    return {};
  }
  return {};
}

/// After an error the rest is found in `deleting_`.
Result<void> RunRetention::erase_runs() {
  while (!deleting_.empty()) {
    const auto size = std::min<std::ptrdiff_t>(std::ssize(deleting_), options_.runs_per_delete);
    const std::vector<store::PastRun> some(deleting_.begin(), deleting_.begin() + size);
    if (auto erased = stores_.history.erase_runs(some); !erased) return erased;
    deleting_.erase(deleting_.begin(), deleting_.begin() + size);
  }
  return {};
}

Result<RunRetention::Round> RunRetention::round() {
  Round done;
  if (!shortest_keep_) {
    if (auto begun = begin_pass(); !begun) return fail(begun.error());
  }
  if (deleting_.empty() && !all_runs_seen_) {
    if (auto looked = look_at_runs(done); !looked) return fail(looked.error());
  }
  if (auto deleted = delete_some(done); !deleted) return fail(deleted.error());
  if (!all_gaps_seen_) {
    if (auto looked = look_at_gaps(done); !looked) return fail(looked.error());
  }
  done.pass_over = all_runs_seen_ && all_gaps_seen_ && !done.is_deleting;
  if (done.pass_over) begin_anew();  // nothing is left to be deleted
  return done;
}

Millis RunRetention::pause_after(const Result<Round>& round, Millis took) const {
  if (!round) return kPauseAfterBadRound;
  if (round->is_deleting || round->runs + round->gaps > 0) {
    return pause_behind(took, options_.pause_while_deleting);
  }
  if (!round->pass_over) return options_.pause_in_pass;
  return pass_deleted_ ? options_.pause_after_deleting : options_.pause_after_pass;
}

/// A round deletes in a moment what would fill a page of the log: it is told once in a while.
void RunRetention::tell(const Round& round) {
  runs_deleted_ += round.runs;
  gaps_deleted_ += round.gaps;
  const MonoTime now = clock_.mono();
  if (runs_deleted_ + gaps_deleted_ == 0 || (!round.pass_over && now - told_ < kTellEvery)) return;
  log_info("retention", "runs are deleted", {{"runs", runs_deleted_}, {"gaps", gaps_deleted_}});
  runs_deleted_ = gaps_deleted_ = 0;
  told_ = now;
}

Millis RunRetention::round_and_tell() {
  if (holds_()) return options_.pause_after_pass;
  const MonoTime began = clock_.mono();
  const auto done = round();
  if (!done) log_warn("retention", "a round of the runs failed", {{"why", done.error().message}});
  if (done) tell(*done);
  pass_deleted_ = pass_deleted_ || (done && done->runs + done->gaps > 0);
  const Millis pause = pause_after(done, floor_ms(clock_.mono() - began));
  if (done && done->pass_over) pass_deleted_ = false;
  return pause;
}

}  // namespace rota::master
