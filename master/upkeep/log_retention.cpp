#include "master/upkeep/log_retention.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/model/job.h"

namespace rota::master {

bool is_output_due(const store::LoggedRun& run, Millis keep_by_default, WallTime now) {
  return run.is_final && is_past(run.ended, run.keep_logs, keep_by_default, now);
}

LogRetention::LogRetention(store::LogStore& logs, store::RetentionStore& history, const Clock& clock,
                           std::function<bool()> holds, RetentionOptions options)
    : logs_(logs),
      history_(history),
      clock_(clock),
      holds_(std::move(holds)),
      wanted_(options),
      options_(options),
      rounds_({[this] { take_options(); }, [this] { return round_and_tell(); }}, options.pause_in_pass) {}

void LogRetention::set_options(const RetentionOptions& options) {
  {
    std::scoped_lock lock(options_mutex_);
    wanted_ = options;
  }
  rounds_.begin_anew();
}

/// What was found due by others is found again, or not any more.
void LogRetention::take_options() {
  {
    std::scoped_lock lock(options_mutex_);
    options_ = wanted_;
  }
  begin_anew();
}

Result<bool> LogRetention::delete_some() {
  for (int i = 0; i < options_.deletes_per_round && !deleting_.empty(); ++i) {
    const auto has_more = logs_.erase(deleting_, options_.rows_per_delete);
    if (!has_more) return has_more;
    if (!*has_more) deleting_.clear();
  }
  return !deleting_.empty();
}

/// Of runs that are kept by their age, the first go as long as the last pass has found too much.
Result<std::vector<RunId>> LogRetention::too_much(const std::vector<store::LoggedRun>& kept, Round& done) {
  std::vector<RunId> due;
  if (options_.limit_bytes == 0 || kept.empty()) return due;
  std::vector<RunId> runs;
  for (const store::LoggedRun& run : kept) runs.push_back(run.run);
  const auto bytes = logs_.bytes_of(runs);
  if (!bytes) return fail(bytes.error());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (too_much_bytes_ > 0 && kept[i].is_final && kept[i].keep_logs != model::kKeepForEver) {
      too_much_bytes_ -= (*bytes)[i];
      due.push_back(runs[i]);
    } else {
      counted_bytes_ += (*bytes)[i];
    }
  }
  done.for_room = due.size();
  return due;
}

/// What was counted in an earlier time in office may be long gone, and what was noted as deleted may be
/// noted no more, where the database went back.
void LogRetention::begin_anew() {
  deleting_.clear();
  after_ = RunId{};
  counted_bytes_ = too_much_bytes_ = 0;
}

void LogRetention::end_pass() {
  too_much_bytes_ = std::max<std::int64_t>(counted_bytes_ - options_.limit_bytes, 0);
  counted_bytes_ = 0;
}

Result<std::vector<RunId>> LogRetention::find_due(Round& done) {
  const auto runs = logs_.runs_with_logs(after_, options_.runs_per_round);
  if (!runs) return fail(runs.error());
  done.seen = runs->size();
  done.pass_over = runs->empty();
  const auto known = history_.logged_runs(*runs);
  if (!known) return fail(known.error());
  const WallTime now = clock_.wall();
  std::vector<RunId> due;
  std::vector<store::LoggedRun> kept;
  for (const store::LoggedRun& run : *known) {
    if (is_output_due(run, options_.keep_logs, now)) {
      due.push_back(run.run);
    } else {
      kept.push_back(run);
    }
  }
  const auto more = too_much(kept, done);
  if (!more) return fail(more.error());
  due.insert(due.end(), more->begin(), more->end());
  // Told before it is done: what is missing from now on was deleted on purpose.
  if (!due.empty()) {
    if (auto noted = history_.note_pruned(due, now); !noted) return fail(noted.error());
  }
  after_ = runs->empty() ? RunId{} : runs->back();
  if (done.pass_over) end_pass();
  return due;
}

Result<LogRetention::Round> LogRetention::round() {
  Round done;
  if (deleting_.empty()) {
    auto due = find_due(done);
    if (!due) return fail(due.error());
    done.due = due->size();
    deleting_ = std::move(*due);
  }
  const auto deleting = delete_some();
  if (!deleting) return fail(deleting.error());
  done.is_deleting = *deleting;
  return done;
}

Millis LogRetention::pause_after(const Result<Round>& round) const {
  if (!round) return kPauseAfterBadRound;
  if (round->is_deleting || round->due > 0) return options_.pause_while_deleting;
  return round->pass_over && too_much_bytes_ == 0 ? options_.pause_after_pass : options_.pause_in_pass;
}

Millis LogRetention::round_and_tell() {
  if (holds_()) return options_.pause_after_pass;
  const auto done = round();
  if (!done) log_warn("retention", "a round failed", {{"why", done.error().message}});
  if (done && done->due > 0) {
    log_info("retention", "output is deleted", {{"runs", done->due}, {"for_room", done->for_room}});
  }
  return pause_after(done);
}

}  // namespace rota::master
