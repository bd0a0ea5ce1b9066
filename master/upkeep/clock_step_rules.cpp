#include "master/upkeep/clock_step_rules.h"

#include <algorithm>

namespace rota::master {
namespace {

Micros offset_of(WallTime wall, MonoTime mono) {
  return wall.time_since_epoch() - mono.time_since_epoch();
}

}  // namespace

bool ClockSteps::is_near(Micros a, Micros b) const { return std::chrono::abs(a - b) <= options_.near_again; }

void ClockSteps::look(Now host) {
  const Micros last = now_.offset;
  now_ = {host.mono, offset_of(host.wall, host.mono)};
  if (!first_) first_ = host.mono;
  if (host.mono - *first_ > options_.window) is_proven_ = true;
  if (!held_) {
    if (const auto before = stepped_from()) {
      step_seen(*before);
    } else {
      keep_sample(now_);
    }
    return;
  }
  if (is_near(now_.offset, before_)) {
    settle();
  } else if (std::chrono::abs(now_.offset - last) > options_.step) {
    step_seen(before_);
  } else {
    end_if_confirmed();
  }
}

/// Against any sample of the window: many small moves make a step as well.
std::optional<Micros> ClockSteps::stepped_from() const {
  for (auto sample = samples_.rbegin(); sample != samples_.rend(); ++sample) {
    if (now_.at - sample->at > options_.window) break;
    if (std::chrono::abs(now_.offset - sample->offset) > options_.step) return sample->offset;
  }
  return std::nullopt;
}

void ClockSteps::keep_sample(const Sample& sample) {
  if (!samples_.empty() && sample.at - samples_.back().at < options_.sample_every) return;
  while (!samples_.empty() && sample.at - samples_.front().at > options_.window) samples_.pop_front();
  samples_.push_back(sample);
}

void ClockSteps::step_seen(Micros before) {
  for (auto& [name, witness] : witnesses_) witness.agrees_since.reset();
  if (votes_before_step().confirm()) {
    settle();
    return;
  }
  if (!held_) held_since_ = now_.at;
  held_ = true;
  before_ = before;
}

/// The clock as it is now is the one to go by.
void ClockSteps::settle() {
  held_ = is_new_ = false;
  samples_.clear();
  samples_.push_back(now_);
  for (auto& [name, witness] : witnesses_) witness.agrees_since.reset();
}

void ClockSteps::accept() {
  is_proven_ = true;
  settle();
}

void ClockSteps::hear(const std::string& name, WallTime said, MonoTime at, bool elsewhere) {
  const Sample heard{at, offset_of(said, at)};
  const auto [known, is_first] = witnesses_.try_emplace(name, Witness{heard, elsewhere, {}, {}});
  Witness& witness = known->second;
  const Micros moved = heard.offset - witness.last.offset;
  if (!is_first && std::chrono::abs(moved) > options_.step) witness.moved = at;
  witness.last = heard;
  witness.elsewhere = elsewhere;
  if (!is_near(heard.offset, now_.offset)) {
    witness.agrees_since.reset();
  } else if (!witness.agrees_since) {
    witness.agrees_since = at;
  }
  if (held_) {
    end_if_confirmed();
    return;
  }
  const Votes votes = votes_now();
  if (!elsewhere) return;
  if (votes.confirm()) is_proven_ = true;
  if (is_proven_ || votes.differ <= votes.agree || is_near(heard.offset, now_.offset)) return;
  held_ = is_new_ = true;
  held_since_ = now_.at;
  before_ = heard.offset;
}

/// A new process believes its witnesses as soon as its clock agrees with them.
void ClockSteps::end_if_confirmed() {
  const Votes votes = votes_now();
  if (votes.confirm() && (is_new_ || votes.agree_long > 0)) settle();
}

/// What they said before could not follow the step. Who has moved a moment ago may be as wrong.
ClockSteps::Votes ClockSteps::votes_before_step() const {
  Votes votes;
  for (const auto& [name, witness] : witnesses_) {
    if (now_.at - witness.last.at > options_.remembered) continue;
    if (witness.moved && now_.at - *witness.moved <= options_.window) continue;
    ++(is_near(witness.last.offset, now_.offset) ? votes.agree : votes.differ);
  }
  return votes;
}

ClockSteps::Votes ClockSteps::votes_now() const {
  Votes votes;
  for (const auto& [name, witness] : witnesses_) {
    if (!witness.elsewhere || !is_fresh(witness)) continue;
    ++(is_near(witness.last.offset, now_.offset) ? votes.agree : votes.differ);
    if (witness.agrees_since && now_.at - *witness.agrees_since >= options_.agree_for) ++votes.agree_long;
  }
  return votes;
}

WallTime ClockSteps::trusted(Now host) const {
  if (!held_) return host.wall;
  return WallTime{floor_ms(host.mono.time_since_epoch() + before_)};
}

std::optional<ClockHold> ClockSteps::hold() const {
  if (!held_) return std::nullopt;
  ClockHold hold;
  hold.by = floor_ms(now_.offset - before_);
  hold.since = WallTime{floor_ms(held_since_.time_since_epoch() + before_)};
  hold.is_new = is_new_;
  hold.has_witness = std::ranges::any_of(witnesses_, [this](const auto& each) {
    return each.second.elsewhere && is_fresh(each.second);
  });
  return hold;
}

}  // namespace rota::master
