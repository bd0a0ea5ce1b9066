#include "master/upkeep/database_watch.h"

#include "common/base/duration_text.h"
#include "common/base/log.h"

namespace rota::master {
namespace {

constexpr Millis kSilent{2000};                     // one lost connection is no silence
constexpr std::string_view kPrefix = "database: ";  // an error of the store's names its place already

}  // namespace

void DatabaseSilence::take(const Result<void>& answer, Now asked) {
  const bool is_silent = !answer && (answer.error().code == ErrorCode::Unavailable ||
                                     answer.error().code == ErrorCode::TimedOut);
  if (!is_silent) return since_.reset();
  if (!since_) since_ = asked;
  why_ = answer.error().message;
  if (why_.starts_with(kPrefix)) why_.erase(0, kPrefix.size());
}

std::string DatabaseSilence::word(MonoTime now, Millis at_least) const {
  if (!since_ || now - since_->mono < at_least) return {};
  return "the database does not answer since " + format_moment(since_->wall) + ": " + why_;
}

bool DatabaseVerdict::take(bool good, MonoTime now) {
  if (good) {
    bad_since_.reset();
    if (!good_since_) good_since_ = now;
    if (!was_lost_ || now - *good_since_ >= options_.settle) eligible_ = true;
  } else {
    good_since_.reset();
    if (!bad_since_) bad_since_ = now;
    if (eligible_ && now - *bad_since_ >= options_.give_up) lose(now);
  }
  return eligible_;
}

void DatabaseVerdict::lose(MonoTime) {
  eligible_ = false;
  was_lost_ = true;
  good_since_.reset();
}

DatabaseWatch::DatabaseWatch(const DatabaseWatchOptions& options, Probe prepare, Probe probe,
                             std::function<void(bool)> changed)
    : options_(options),
      prepare_(std::move(prepare)),
      probe_(std::move(probe)),
      changed_(std::move(changed)),
      verdict_(options),
      thread_([this](std::stop_token stop) { watch(stop); }) {}

DatabaseWatch::~DatabaseWatch() { stop(); }

void DatabaseWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void DatabaseWatch::report_lost() {
  {
    std::scoped_lock lock(mutex_);
    lost_reported_ = true;
  }
  prepared_ = false;
  wake_.notify_all();
}

void DatabaseWatch::prepare_again() { prepared_ = false; }

std::string DatabaseWatch::health() const {
  std::scoped_lock lock(mutex_);
  return health_;
}

std::string DatabaseWatch::silence() const {
  std::scoped_lock lock(mutex_);
  return silence_.word(BootClock::now(), kSilent);
}

std::string DatabaseWatch::why_not() const {
  std::scoped_lock lock(mutex_);
  if (told_) return {};
  if (std::string silence = silence_.word(BootClock::now(), Millis{0}); !silence.empty()) return silence;
  return health_ == "ok" ? "the database answers again; it must go on so for a moment" : health_;
}

Result<void> DatabaseWatch::ask() {
  if (!prepared_) {
    if (auto prepared = prepare_(); !prepared) return prepared;
    prepared_ = true;
  }
  auto answer = probe_();
  if (!answer) prepared_ = false;  // another database, or a restored one, may answer next
  return answer;
}

void DatabaseWatch::watch(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const Now asked = SystemClock().now();
    const Result<void> answer = ask();
    std::unique_lock lock(mutex_);
    silence_.take(answer, asked);
    const std::string health = answer ? "ok" : answer.error().message;
    if (health != health_ && !answer) log_warn("database", "no good answer", {{"why", health}});
    if (health != health_ && answer) log_info("database", "answers");
    health_ = health;
    if (lost_reported_) verdict_.lose(BootClock::now());
    lost_reported_ = false;
    const bool good = verdict_.take(answer.has_value(), BootClock::now());
    if (good != told_) {
      told_ = good;
      lock.unlock();
      changed_(good);
      lock.lock();
    }
    wake_.wait_for(lock, stop, options_.every, [this] { return lost_reported_; });
  }
}

}  // namespace rota::master
