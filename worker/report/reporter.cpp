#include "worker/report/reporter.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/wire/worker_wire.h"

namespace rota::worker::report {

namespace {

using model::AttemptKey;
using model::AttemptReport;

constexpr std::size_t kMostReports = 500;
constexpr std::size_t kMostBytes = 2 << 20;
constexpr Millis kIdle{1000};
constexpr Millis kRepeatAfter{200};
constexpr Millis kUnderWay{20};

std::size_t weight_of(const AttemptReport& report) {
  std::size_t weight = 300 + report.outcome.message.size() + report.outcome.result.size();
  if (report.note) weight += 300 + (report.note->checkpoint ? report.note->checkpoint->size() : 0);
  return weight;
}

void merge(model::RunNote& note, model::RunNote later) {
  note.said = later.said;
  if (later.percent) {
    note.percent = later.percent;
    note.text = std::move(later.text);
  }
  if (later.checkpoint) note.checkpoint = std::move(later.checkpoint);
}

}  // namespace

Reporter::Reporter(ReporterOptions options, const desk::LeaderAddress& leader,
                   std::function<model::WorkerKey()> life)
    : options_(std::move(options)), leader_(leader), life_(std::move(life)) {}

Reporter::~Reporter() { stop(); }

Result<void> Reporter::open() {
  auto outbox = Outbox::open(options_.outbox_file);
  if (!outbox) return fail(outbox.error());
  outbox_ = std::move(*outbox);
  if (outbox_->damaged_bytes() > 0) {
    log_error("report", "the outbox is damaged; some outcomes may be lost",
              {{"file", options_.outbox_file}, {"bytes", outbox_->damaged_bytes()}});
  }
  if (outbox_->torn_bytes() > 0) {
    log_warn("report", "the outbox ended in a torn record, which never counted",
             {{"file", options_.outbox_file}, {"bytes", outbox_->torn_bytes()}});
  }
  if (outbox_->reserved_bytes() <= 0) {
    log_warn("report", "the disk has no room to reserve for results", {{"file", options_.outbox_file}});
  }
  std::scoped_lock lock(mutex_);
  for (const auto& [key, report] : outbox_->unreported()) queue_locked(report);
  live_bytes_ = outbox_->live_bytes();
  return {};
}

std::vector<AttemptReport> Reporter::unreported() const {
  std::scoped_lock lock(mutex_);
  std::vector<AttemptReport> all;
  for (const auto& [key, waiting] : to_send_) all.push_back(waiting.report);
  return all;
}

void Reporter::start(desk::StoredObserver stored,
                     std::function<void(const std::vector<AttemptKey>&)> acknowledged) {
  stored_ = std::move(stored);
  acknowledged_ = std::move(acknowledged);
  writer_ = std::jthread([this](std::stop_token stop) { write_loop(stop); });
  for (std::size_t i = 0; i < options_.calls_at_once; ++i) {
    senders_.emplace_back([this](std::stop_token stop) { send_loop(stop); });
  }
}

void Reporter::stop() {
  for (std::jthread& sender : senders_) sender.request_stop();
  senders_.clear();  // joins
  if (!writer_.joinable()) return;
  writer_.request_stop();
  writer_.join();
}

void Reporter::started(AttemptReport report) {
  bool was_empty = false;
  {
    std::scoped_lock lock(mutex_);
    running_.insert(report.key);
    was_empty = starts_.empty();
    starts_.push_back({std::move(report), BootClock::now() + options_.started_after});
  }
  if (was_empty) to_send_changed_.notify_one();
}

void Reporter::noted(AttemptReport report) {
  {
    std::scoped_lock lock(mutex_);
    const auto [at, is_first] = notes_.try_emplace(report.key);
    Noted& noted = at->second;
    if (is_first || !noted.is_pending) {
      noted.report = std::move(report);
    } else {
      merge(*noted.report.note, std::move(*report.note));
    }
    noted.is_pending = true;
    if (!is_first) ++noted.version;
    // What a short run said travels with its outcome.
    if (is_first) noted.not_before = BootClock::now() + options_.started_after;
  }
  to_send_changed_.notify_one();
}

void Reporter::finished(AttemptReport report) {
  bool is_first = false;
  {
    std::scoped_lock lock(mutex_);
    is_first = to_write_.empty();
    to_write_.push_back(std::move(report));
  }
  if (is_first) to_write_changed_.notify_one();
}

bool Reporter::wait_home(Millis at_most) {
  std::unique_lock lock(mutex_);
  return home_.wait_for(lock, at_most, [&] {
    return to_write_.empty() && !is_writing_ && to_send_.empty();
  });
}

bool Reporter::is_full() const {
  std::scoped_lock lock(mutex_);
  return live_bytes_ > options_.outbox_limit_bytes;
}

std::int64_t Reporter::outbox_bytes() const {
  std::scoped_lock lock(mutex_);
  return live_bytes_;
}

std::size_t Reporter::waiting() const {
  std::scoped_lock lock(mutex_);
  return to_write_.size() + to_send_.size();
}

// --- the writing thread

void Reporter::write_loop(std::stop_token stop) {
  while (true) {
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      to_write_changed_.wait_for(lock, stop, kIdle, [&] { return !to_write_.empty(); });
      if (stop.stop_requested() && to_write_.empty()) break;
      batch.swap(to_write_);
      is_writing_ = !batch.empty();
    }
    forget_acknowledged();
    if (!batch.empty()) write_batch(batch, stop);
  }
  forget_acknowledged();
}

/// Tries until the disk accepts it. An outcome that is not synced does not count as finished: its slot
/// waits.
void Reporter::write_batch(const Batch& batch, std::stop_token stop) {
  while (true) {
    const auto written = outbox_->append(batch);
    if (written) break;
    log_error("report", "the outbox cannot be written", {{"why", written.error().message}});
    std::unique_lock lock(mutex_);
    std::condition_variable_any pause;
    pause.wait_for(lock, stop, Millis{500}, [] { return false; });
    if (stop.stop_requested()) return;
  }
  stored_(batch);
  {
    std::scoped_lock lock(mutex_);
    for (const AttemptReport& report : batch) {
      running_.erase(report.key);
      queue_locked(report);
    }
    live_bytes_ = outbox_->live_bytes();
    is_writing_ = false;
  }
  to_send_changed_.notify_one();
}

void Reporter::forget_acknowledged() {
  std::vector<AttemptKey> keys;
  {
    std::scoped_lock lock(mutex_);
    keys.swap(to_forget_);
  }
  if (keys.empty()) return;
  if (auto done = outbox_->acknowledge(keys); !done) {
    log_warn("report", "an acknowledgement was not noted; it will be reported again",
             {{"why", done.error().message}});
  }
  std::scoped_lock lock(mutex_);
  live_bytes_ = outbox_->live_bytes();
}

// --- the sending threads

void Reporter::send_loop(std::stop_token stop) {
  LeaderChannel channel(leader_);
  Millis backoff{0};
  while (!stop.stop_requested()) {
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      const auto due = next_due_locked();
      const Micros wait = due ? std::min<Micros>(*due - BootClock::now(), kIdle) : Micros{kIdle};
      if (wait > Micros{0}) {
        to_send_changed_.wait_for(lock, stop, wait, [&, due] {
          const auto next = next_due_locked();
          return next && (!due || *next < *due);
        });
      }
      if (stop.stop_requested()) return;
      batch = next_batch_locked();
      if (batch.empty()) continue;
      ++calls_;
    }
    const auto stored = ask(channel, batch);
    if (stored) {
      apply_answer(batch, *stored);
    } else {
      put_back(batch);
    }
    backoff = stored ? Millis{0} : std::clamp(backoff * 2, options_.backoff_first, options_.backoff_most);
    if (backoff > Millis{0}) channel.pause(backoff, stop);
    std::scoped_lock lock(mutex_);
    --calls_;
  }
}

/// A later word on the same attempt replaces the one that waits.
void Reporter::queue_locked(const AttemptReport& report) {
  Waiting& waiting = to_send_[report.key];
  waiting.report = report;
  if (!std::exchange(waiting.is_queued, true)) ready_.push_back(report.key);
}

/// While one is under way, for many outcomes only; not while the leader does not answer.
bool Reporter::may_add_a_call_locked() const {
  return calls_ < options_.calls_at_once && !is_troubled_ && ready_.size() >= options_.worth_a_call;
}

/// Nothing: not before another call has ended, or something is new.
std::optional<MonoTime> Reporter::next_due_locked() const {
  if (calls_ > 0) return may_add_a_call_locked() ? std::optional(MonoTime{}) : std::nullopt;
  if (!ready_.empty()) return MonoTime{};
  std::optional<MonoTime> next;
  if (!later_.empty()) next = later_.begin()->first;
  if (!starts_.empty() && (!next || starts_.front().due < *next)) next = starts_.front().due;
  for (const auto& [key, noted] : notes_) {
    // Of an attempt that has ended it travels with the outcome.
    if (!noted.is_pending || to_send_.contains(key)) continue;
    if (!next || noted.not_before < *next) next = noted.not_before;
  }
  return next;
}

Reporter::Batch Reporter::next_batch_locked() {
  Batch batch;
  if (calls_ > 0 && !may_add_a_call_locked()) return batch;
  const MonoTime now = BootClock::now();
  std::size_t bytes = 0;
  add_outcomes_locked(batch, bytes, now);
  add_starts_locked(batch, now);
  add_notes_locked(batch, bytes, now);
  return batch;
}

void Reporter::add_outcomes_locked(Batch& batch, std::size_t& bytes, MonoTime now) {
  for (; !later_.empty() && later_.begin()->first <= now; later_.erase(later_.begin())) {
    ready_.push_back(later_.begin()->second);
  }
  while (!ready_.empty() && batch.size() < kMostReports && bytes < kMostBytes) {
    const AttemptKey key = ready_.front();
    ready_.pop_front();
    Waiting& waiting = to_send_.at(key);
    const auto noted = notes_.find(key);
    // Never in two calls at once: nobody knows which is read first.
    if (waiting.is_in_call || (noted != notes_.end() && noted->second.is_in_call)) {
      later_.emplace(now + kUnderWay, key);
      continue;
    }
    waiting.is_queued = false;
    waiting.is_in_call = true;
    batch.push_back(waiting.report);
    if (noted != notes_.end() && noted->second.is_pending) batch.back().note = noted->second.report.note;
    bytes += weight_of(batch.back());
  }
}

void Reporter::add_starts_locked(Batch& batch, MonoTime now) {
  while (!starts_.empty() && starts_.front().due <= now && batch.size() < kMostReports) {
    if (running_.erase(starts_.front().report.key) != 0) {
      batch.push_back(std::move(starts_.front().report));
    }
    starts_.pop_front();
  }
}

void Reporter::add_notes_locked(Batch& batch, std::size_t& bytes, MonoTime now) {
  for (auto& [key, noted] : notes_) {
    if (batch.size() >= kMostReports || bytes >= kMostBytes) return;
    if (!noted.is_pending || noted.is_in_call || noted.not_before > now || to_send_.contains(key)) continue;
    noted.not_before = now + options_.notes_every;
    noted.sent_version = noted.version;
    noted.is_in_call = true;
    bytes += weight_of(noted.report);
    batch.push_back(noted.report);
  }
}

/// The attempts that the leader has stored; nothing: it has not answered.
std::optional<std::vector<AttemptKey>> Reporter::ask(LeaderChannel& channel, const Batch& batch) const {
  thrift::ReportRequest request;
  request.__set_worker(wire::to_wire(life_()));
  std::vector<thrift::Report> reports;
  reports.reserve(batch.size());
  for (const AttemptReport& report : batch) reports.push_back(wire::to_wire(report));
  request.__set_reports(std::move(reports));
  auto answer = channel.call(
      [&](thrift::ReportServiceClient& leader) {
        std::vector<thrift::AttemptKey> stored;
        leader.report(stored, request);
        return stored;
      },
      options_.rpc_deadline);
  if (!answer) {
    log_debug("report", "reports were not accepted; they are sent again",
              {{"reports", batch.size()}, {"why", answer.error().error.message}});
    return std::nullopt;
  }
  std::vector<AttemptKey> stored;
  for (const thrift::AttemptKey& key : *answer) stored.push_back(wire::from_wire(key));
  return stored;
}

/// What was said since it was sent goes with the next report.
void Reporter::end_note_locked(const AttemptReport& report, bool is_stored) {
  const auto noted = notes_.find(report.key);
  if (noted == notes_.end()) return;
  noted->second.is_in_call = false;
  if (is_stored && noted->second.version == noted->second.sent_version) noted->second.is_pending = false;
}

void Reporter::apply_answer(const Batch& batch, const std::vector<AttemptKey>& stored) {
  const std::set<AttemptKey> known(stored.begin(), stored.end());
  std::vector<AttemptKey> done;
  {
    std::scoped_lock lock(mutex_);
    is_troubled_ = false;
    for (const AttemptReport& report : batch) {
      if (report.what != AttemptReport::What::Finished) {
        if (report.note) end_note_locked(report, known.contains(report.key));
        continue;
      }
      Waiting& waiting = to_send_.at(report.key);
      waiting.is_in_call = false;
      if (waiting.is_queued) continue;  // there is a later word
      if (known.contains(report.key)) {
        done.push_back(report.key);
        to_send_.erase(report.key);
        notes_.erase(report.key);
      } else {
        waiting.is_queued = true;
        later_.emplace(BootClock::now() + kRepeatAfter, report.key);
      }
    }
    to_forget_.insert(to_forget_.end(), done.begin(), done.end());
  }
  if (!done.empty()) acknowledged_(done);
  home_.notify_all();
}

/// In their order, before what came later.
void Reporter::put_back(const Batch& batch) {
  std::scoped_lock lock(mutex_);
  is_troubled_ = true;
  for (auto report = batch.rbegin(); report != batch.rend(); ++report) {
    if (report->what == AttemptReport::What::Finished) {
      Waiting& waiting = to_send_.at(report->key);
      waiting.is_in_call = false;
      if (!std::exchange(waiting.is_queued, true)) ready_.push_front(report->key);
    } else if (report->note) {
      end_note_locked(*report, false);
    }
  }
}

}  // namespace rota::worker::report
