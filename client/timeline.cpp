#include "client/timeline.h"

#include <fmt/format.h>

namespace rota::client {
namespace {

constexpr const char* kNotStored = "not stored";
constexpr const char* kNotYet = "has not happened yet";

bool is_final(const std::string& state) {
  return state != "waiting" && state != "queued" && state != "dispatched" && state != "running";
}

class Timeline {
 public:
  void add(std::int32_t attempt, const char* what, std::optional<std::int64_t> at, std::string note) {
    if (at && *at == 0) at.reset();
    TimelineRow row{attempt, what, at, {}, std::move(note)};
    if (at && last_) row.after_ms = *at - *last_;
    if (at) last_ = at;
    rows_.push_back(std::move(row));
  }
  std::vector<TimelineRow> take() { return std::move(rows_); }

 private:
  std::vector<TimelineRow> rows_;
  std::optional<std::int64_t> last_;
};

std::optional<std::int64_t> set_or_none(bool is_set, std::int64_t value) {
  return is_set ? std::optional(value) : std::nullopt;
}

std::string by_worker(const std::string& worker) { return fmt::format("by the clock of {}", worker); }

/// Of an earlier attempt: its row has how it ended, and nothing of when the leader heard of it.
void add_earlier(Timeline& line, const thrift::AttemptInfo& attempt) {
  const std::int32_t number = attempt.attempt.attempt;
  const std::string& worker = attempt.worker.id;
  line.add(number, "sent", set_or_none(attempt.__isset.dispatched_ms, attempt.dispatched_ms), "to " + worker);
  line.add(number, "accepted", std::nullopt, kNotStored);
  const bool was_lost = attempt.outcome.state == "lost";
  line.add(number, "started", attempt.outcome.started_ms,
           was_lost ? "lost with its worker" : by_worker(worker));
  line.add(number, "ended", attempt.outcome.ended_ms,
           fmt::format("{}{}", attempt.outcome.state, was_lost ? "" : ", " + by_worker(worker)));
  line.add(number, "recorded", std::nullopt, attempt.late ? "not stored; its result came late" : kNotStored);
}

/// Of a run that waits for its next attempt the newest one is over too.
void add_newest(Timeline& line, const thrift::RunInfo& run) {
  if (run.attempt == 0) return;
  const std::string& worker = run.worker.id;
  const bool is_over = run.state != "dispatched" && run.state != "running";
  const auto started = run.outcome.started_ms != 0 && is_over
                           ? std::optional(run.outcome.started_ms)
                           : set_or_none(run.__isset.started_ms, run.started_ms);
  const auto ended = set_or_none(is_over && run.outcome.ended_ms != 0, run.outcome.ended_ms);
  line.add(run.attempt, "sent", set_or_none(run.__isset.dispatched_ms, run.dispatched_ms), "to " + worker);
  line.add(run.attempt, "accepted", std::nullopt, kNotStored);
  line.add(run.attempt, "started", started, started ? by_worker(worker) : is_over ? kNotStored : kNotYet);
  const std::string how = run.outcome.state.empty() ? run.state : run.outcome.state;
  const std::string over = ended ? fmt::format("{}, {}", how, by_worker(worker)) : kNotStored;
  line.add(run.attempt, "ended", ended, is_over ? over : kNotYet);
}

}  // namespace

std::vector<TimelineRow> timeline_of(const thrift::RunDetail& detail) {
  const thrift::RunInfo& run = detail.run;
  Timeline line;
  line.add(0, "due", run.scheduled_ms, run.kind == "tick" ? "its tick" : "as asked for");
  line.add(0, "decided", run.recorded_ms, fmt::format("by the leader of term {}", run.id >> 40));
  line.add(0, "queued", std::nullopt, "not stored: run why says where it stands");
  for (const thrift::AttemptInfo& attempt : detail.attempts) {
    if (attempt.attempt.attempt != run.attempt) add_earlier(line, attempt);
  }
  add_newest(line, run);
  if (run.__isset.not_before_ms && !is_final(run.state)) {
    line.add(0, "waits until", run.not_before_ms, "the next attempt may start then");
  }
  const bool is_over = is_final(run.state);
  line.add(0, "recorded", set_or_none(run.__isset.ended_ms, run.ended_ms),
           is_over ? fmt::format("as {}, under term {}", run.state, run.epoch) : kNotYet);
  return line.take();
}

}  // namespace rota::client
