#include "sim_lease.h"

#include <utility>

#include "master/cluster/lease_elector.h"

namespace rota::sim {

using master::cluster::LeaseSight;
using std::chrono_literals::operator""ms;

namespace {

Error no_answer() { return {ErrorCode::Unavailable, "the lease's server does not answer"}; }

}  // namespace

SimLease::SimLease(Clockwork& clockwork, Random random, Marks& marks)
    : clockwork_(clockwork), random_(random), marks_(marks) {}

void SimLease::begin_faults() {
  clockwork_.after(random_.between(1000ms, 12'000ms), [this] {
    if (is_healed_) return;
    strike();
    begin_faults();
  });
}

void SimLease::strike() {
  switch (random_.below(4)) {
    case 0:
    case 1:
      marks_.hit("fault_lease_server_away");
      away_until_ = clockwork_.now() + random_.between(300ms, 9000ms);
      return;
    case 2:
      marks_.hit("fault_lease_answers_lost");
      lossy_until_ = clockwork_.now() + random_.between(1000ms, 9000ms);
      return;
    default:
      if (is_held()) marks_.hit("fault_lease_forgotten");
      forget();
  }
}

void SimLease::heal() {
  is_healed_ = true;
  away_until_ = lossy_until_ = {};
}

LeaseSight SimLease::sight(const std::string& tag) const {
  if (!is_held()) return {};
  return {tag_ == tag, words_};
}

Result<void> SimLease::answers() {
  if (clockwork_.now() < away_until_) return fail(no_answer());
  if (clockwork_.now() < lossy_until_ && random_.chance(40)) return fail(no_answer());
  return {};
}

Result<LeaseSight> SimLease::hold(const std::string& tag, const std::string& words) {
  if (auto reached = answers(); !reached) return fail(reached.error());
  if (!is_held() || tag_ == tag) {
    tag_ = tag;
    words_ = words;
    until_ = clockwork_.now() + master::cluster::LeaseTimes{}.lease;
  }
  if (auto answered = answers(); !answered) return fail(answered.error());
  return sight(tag);
}

Result<LeaseSight> SimLease::look() {
  if (auto reached = answers(); !reached) return fail(reached.error());
  return sight("");
}

Result<void> SimLease::release(const std::string& tag) {
  if (auto reached = answers(); !reached) return reached;
  if (tag_ == tag) forget();
  return answers();
}

Result<LeaseSight> SimBoard::hold(const std::string& tag, const std::string& words) {
  return *lives_ ? lease_.hold(tag, words) : fail(no_answer());
}

Result<LeaseSight> SimBoard::look() { return *lives_ ? lease_.look() : fail(no_answer()); }

Result<void> SimBoard::release(const std::string& tag) {
  return *lives_ ? lease_.release(tag) : fail(no_answer());
}

}  // namespace rota::sim
