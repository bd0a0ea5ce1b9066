#include "master/cluster/lease_elector.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/log.h"
#include "common/base/random.h"

namespace rota::master::cluster {
namespace {

constexpr std::size_t kTagBytes = 16;
/// What was seen of the leader counts for so long: as long as a call without an answer may take.
constexpr Millis kShortestMemory{1500};

/// The id of the master that wrote these words.
std::string id_in(const std::string& words) {
  const auto parsed = nlohmann::json::parse(words, nullptr, false);
  const auto id = parsed.is_object() ? parsed.find("id") : parsed.end();
  return id != parsed.end() && id->is_string() ? id->get<std::string>() : std::string();
}

}  // namespace

LeaseElector::LeaseElector(std::unique_ptr<LeaseBoard> board, std::string master_id, const LeaseTimes& times,
                           ElectorObserver& observer, const Clock& clock, LeaseTag tag)
    : board_(std::move(board)),
      master_id_(std::move(master_id)),
      times_(times),
      observer_(observer),
      clock_(clock),
      keep_tag_(std::move(tag.keep)),
      tag_(std::move(tag.last)) {}

void LeaseElector::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (!tag_.empty()) (void)board_->release(tag_);  // unanswered: it lapses
  tag_.clear();
  std::scoped_lock lock(mutex_);
  until_.reset();
}

void LeaseElector::start() {
  thread_ = std::jthread([this](std::stop_token stop) { loop(stop); });
}

void LeaseElector::loop(std::stop_token stop) {
  while (!stop.stop_requested()) {
    step();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, times_.beat, [this] { return has_changed_; });
    has_changed_ = false;
  }
}

void LeaseElector::change(const std::function<void(Wanted&)>& what) {
  {
    std::scoped_lock lock(mutex_);
    what(wanted_);
    has_changed_ = true;
  }
  wake_.notify_all();
}

void LeaseElector::campaign() {
  change([](Wanted& wanted) { wanted.eligible = true; });
}

void LeaseElector::resign() {
  change([](Wanted& wanted) {
    wanted.eligible = false;
    wanted.resigned = true;
  });
}

void LeaseElector::publish(const LeaderHint& hint) {
  change([&hint](Wanted& wanted) { wanted.hint = hint; });
}

void LeaseElector::withdraw_hint() {
  change([](Wanted& wanted) { wanted.hint.reset(); });
}

LeaseElector::Wanted LeaseElector::take_wanted() {
  std::scoped_lock lock(mutex_);
  Wanted wanted = wanted_;
  wanted_.resigned = false;
  return wanted;
}

bool LeaseElector::is_first() const {
  std::scoped_lock lock(mutex_);
  return until_ && clock_.mono() < *until_;
}

Candidacy LeaseElector::candidacy() const {
  std::scoped_lock lock(mutex_);
  return candidacy_;
}

Result<LeaderHint> LeaseElector::leader() const {
  std::scoped_lock lock(mutex_);
  if (!seen_ || clock_.mono() - seen_at_ > std::max(3 * times_.beat, kShortestMemory)) {
    return fail(ErrorCode::Unavailable, "the elector's servers have not said lately who leads");
  }
  return zk::hint_in(seen_->words);
}

void LeaseElector::step() {
  const Wanted wanted = take_wanted();
  if (wanted.resigned || !wanted.eligible) return leave();  // it may campaign again since: with the next step
  bool has_lapsed = false;
  {
    std::scoped_lock lock(mutex_);
    has_lapsed = until_ && clock_.mono() >= *until_;
  }
  if (has_lapsed) lose("the lease could not be renewed in time");
  if (clock_.mono() < away_until_) return watch_only();
  stand(wanted);
}

void LeaseElector::stand(const Wanted& wanted) {
  if (tag_.empty()) {
    tag_ = random_hex(kTagBytes);
    if (keep_tag_) keep_tag_(tag_);
  }
  const MonoTime sent = clock_.mono();
  const LeaderHint* const hint = wanted.hint ? &*wanted.hint : nullptr;
  const auto sight = board_->hold(tag_, zk::candidate_data(master_id_, hint));
  see(sight, true);
  const MonoTime until = sent + times_.lease - times_.margin();
  if (sight && sight->is_ours && clock_.mono() < until) return win(until);
  if (sight && !sight->is_ours) lose("another master holds the lease");
}

/// A lease that was given up goes to another candidate: their turn is as long as two of their looks.
void LeaseElector::leave() {
  if (tag_.empty()) return watch_only();
  if (until_) away_until_ = clock_.mono() + 2 * times_.beat;
  lose("it resigned");
  if (auto released = board_->release(tag_); !released) {
    log_debug("election", "could not free the lease", {{"error", released.error().message}});
    return;  // again with the next beat; else it lapses
  }
  tag_.clear();
  std::scoped_lock lock(mutex_);
  candidacy_ = {};
  seen_.reset();
}

void LeaseElector::watch_only() { see(board_->look(), false); }

void LeaseElector::see(const Result<LeaseSight>& sight, bool stands) {
  std::scoped_lock lock(mutex_);
  candidacy_.stands = stands && sight.has_value();
  candidacy_.trouble = stands && !sight ? sight.error().message : "";
  if (!sight) return;
  seen_ = *sight;
  seen_at_ = clock_.mono();
  candidacy_.predecessor = sight->is_ours ? "" : id_in(sight->words);
}

void LeaseElector::win(MonoTime until) {
  bool is_new = false;
  {
    std::scoped_lock lock(mutex_);
    is_new = !until_;
    until_ = until;
  }
  if (is_new) observer_.elected();
}

void LeaseElector::lose(std::string_view why) {
  {
    std::scoped_lock lock(mutex_);
    if (!until_) return;
    until_.reset();
  }
  observer_.lost(why);
}

}  // namespace rota::master::cluster
