#include "worker/report/reporter.h"

#include <algorithm>

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
    : options_(std::move(options)), channel_(leader), life_(std::move(life)) {}

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
  for (const auto& [key, report] : outbox_->unreported()) to_send_[key] = Waiting{report, {}};
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
  sender_ = std::jthread([this](std::stop_token stop) { send_loop(stop); });
}

void Reporter::stop() {
  for (std::jthread* thread : {&sender_, &writer_}) {
    if (!thread->joinable()) continue;
    thread->request_stop();
    thread->join();
  }
}

void Reporter::started(AttemptReport report) {
  bool was_empty = false;
  {
    std::scoped_lock lock(mutex_);
    running_.insert(report.key);
    was_empty = starts_.empty();
    starts_.push_back({std::move(report), BootClock::now() + options_.started_after});
  }
  if (was_empty) to_send_changed_.notify_all();
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
  to_send_changed_.notify_all();
}

void Reporter::finished(AttemptReport report) {
  bool is_first = false;
  {
    std::scoped_lock lock(mutex_);
    is_first = to_write_.empty();
    to_write_.push_back(std::move(report));
  }
  if (is_first) to_write_changed_.notify_all();
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

void Reporter::write_loop(std::stop_token stop) {
  while (true) {
    std::vector<AttemptReport> batch;
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

/// Tries until the disk accepts it. An outcome that is not written does not count as finished: its slot
/// waits.
void Reporter::write_batch(const std::vector<AttemptReport>& batch, std::stop_token stop) {
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
      to_send_[report.key] = Waiting{report, {}};
    }
    live_bytes_ = outbox_->live_bytes();
    is_writing_ = false;
  }
  to_send_changed_.notify_all();
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

std::optional<MonoTime> Reporter::next_due() const {
  std::optional<MonoTime> next;
  for (const auto& [key, waiting] : to_send_) {
    if (!next || waiting.not_before < *next) next = waiting.not_before;
    if (*next == MonoTime{}) break;
  }
  if (!starts_.empty() && (!next || starts_.front().due < *next)) next = starts_.front().due;
  for (const auto& [key, noted] : notes_) {
    // Of an attempt that has ended it travels with the outcome.
    if (!noted.is_pending || to_send_.contains(key)) continue;
    if (!next || noted.not_before < *next) next = noted.not_before;
  }
  return next;
}

std::vector<AttemptReport> Reporter::next_batch() {
  std::vector<AttemptReport> batch;
  const MonoTime now = BootClock::now();
  std::size_t bytes = 0;
  for (auto& [key, waiting] : to_send_) {
    if (batch.size() >= kMostReports || bytes >= kMostBytes) break;
    if (waiting.not_before > now) continue;
    batch.push_back(waiting.report);
    if (const auto noted = notes_.find(key); noted != notes_.end() && noted->second.is_pending) {
      batch.back().note = noted->second.report.note;
    }
    bytes += weight_of(batch.back());
  }
  while (!starts_.empty() && starts_.front().due <= now && batch.size() < kMostReports) {
    if (running_.erase(starts_.front().report.key) != 0) {
      batch.push_back(std::move(starts_.front().report));
    }
    starts_.pop_front();
  }
  if (bytes < kMostBytes) add_notes(batch, now);
  return batch;
}

void Reporter::add_notes(std::vector<AttemptReport>& batch, MonoTime now) {
  std::size_t bytes = 0;
  for (auto& [key, noted] : notes_) {
    if (batch.size() >= kMostReports || bytes >= kMostBytes) return;
    if (!noted.is_pending || noted.not_before > now || to_send_.contains(key)) continue;
    noted.not_before = now + options_.notes_every;
    noted.sent_version = noted.version;
    bytes += weight_of(noted.report);
    batch.push_back(noted.report);
  }
}

void Reporter::send_loop(std::stop_token stop) {
  Millis backoff{0};
  while (!stop.stop_requested()) {
    if (backoff > Millis{0}) channel_.pause(backoff, stop);
    std::vector<AttemptReport> batch;
    {
      std::unique_lock lock(mutex_);
      const auto due = next_due();
      const Micros wait = due ? std::min<Micros>(*due - BootClock::now(), kIdle) : Micros{kIdle};
      if (wait > Micros{0}) {
        to_send_changed_.wait_for(lock, stop, wait, [&, due] {
          const auto next = next_due();
          return next && (!due || *next < *due);
        });
      }
      if (stop.stop_requested()) return;
      batch = next_batch();
    }
    if (batch.empty()) continue;
    const bool is_answered = send(batch);
    backoff = is_answered ? Millis{0}
                          : std::clamp(backoff * 2, options_.backoff_first, options_.backoff_most);
  }
}

bool Reporter::send(const std::vector<AttemptReport>& batch) {
  thrift::ReportRequest request;
  request.__set_worker(wire::to_wire(life_()));
  std::vector<thrift::Report> reports;
  for (const AttemptReport& report : batch) reports.push_back(wire::to_wire(report));
  request.__set_reports(std::move(reports));
  auto answer = channel_.call(
      [&](thrift::ReportServiceClient& leader) {
        std::vector<thrift::AttemptKey> stored;
        leader.report(stored, request);
        return stored;
      },
      options_.rpc_deadline);
  if (!answer) {
    log_debug("report", "reports were not accepted; they are sent again",
              {{"reports", batch.size()}, {"why", answer.error().error.message}});
    return false;
  }
  std::vector<AttemptKey> stored;
  for (const thrift::AttemptKey& key : *answer) stored.push_back(wire::from_wire(key));
  apply_answer(batch, stored);
  return true;
}

/// What was said since it was sent goes with the next report.
void Reporter::apply_note_answer(const AttemptReport& report) {
  const auto noted = notes_.find(report.key);
  if (noted == notes_.end() || noted->second.version != noted->second.sent_version) return;
  noted->second.is_pending = false;
}

void Reporter::apply_answer(const std::vector<AttemptReport>& batch,
                           const std::vector<AttemptKey>& stored) {
  const std::set<AttemptKey> known(stored.begin(), stored.end());
  std::vector<AttemptKey> done;
  {
    std::scoped_lock lock(mutex_);
    for (const AttemptReport& report : batch) {
      if (report.what != AttemptReport::What::Finished) {
        if (report.note && known.contains(report.key)) apply_note_answer(report);
        continue;
      }
      const auto found = to_send_.find(report.key);
      if (found == to_send_.end()) continue;
      if (known.contains(report.key)) {
        done.push_back(report.key);
        to_send_.erase(found);
        notes_.erase(report.key);
      } else {
        found->second.not_before = BootClock::now() + kRepeatAfter;
      }
    }
    to_forget_.insert(to_forget_.end(), done.begin(), done.end());
  }
  if (!done.empty()) acknowledged_(done);
  home_.notify_all();
}

}  // namespace rota::worker::report
