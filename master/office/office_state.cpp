#include "master/office/office_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/duration_text.h"

namespace rota::master {
namespace {

/// A takeover reads what stands; beyond this the database or ZooKeeper is slow.
constexpr Millis kLongTakeover{3000};

constexpr std::array kSteps{Millis{10'000},    Millis{20'000},     Millis{60'000},     Millis{120'000},
                            Millis{300'000},   Millis{600'000},    Millis{1'800'000},  Millis{3'600'000},
                            Millis{7'200'000}, Millis{21'600'000}, Millis{86'400'000}};

/// "12s", by whole seconds.
std::string exact(Millis age) {
  return format_duration(std::chrono::floor<std::chrono::seconds>(std::max(age, Millis{0})));
}

/// "1m or more"; beneath the first step nothing is said.
std::string in_steps(Millis age) {
  const auto above = std::ranges::upper_bound(kSteps, age);
  return above == kSteps.begin() ? "" : format_duration(*std::prev(above)) + " or more";
}

using AgeText = std::string (*)(Millis);

std::string with_age(const std::string& what, Millis age, AgeText text) {
  const std::string words = text(age);
  return words.empty() ? what : fmt::format("{} (for {})", what, words);
}

std::string_view opening_of(Hurdle hurdle) {
  switch (hurdle) {
    case Hurdle::Session: return "";
    case Hurdle::Database: return "this master does not stand for election: ";
    case Hurdle::Cluster: return "this master may not take office: ";
    case Hurdle::Takeover: return "this master could not take office: ";
    case Hurdle::Election: return "this master cannot stand for election: ";
    case Hurdle::Predecessor: return "this master stands behind ";
  }
  return "";
}

/// A Term that the database ended, or a takeover that it stopped, beside the database's own trouble.
bool is_told_already(const OfficeView& view, Hurdle hurdle, const OfficeTrouble& trouble) {
  return hurdle == Hurdle::Takeover && trouble.passes && view.troubles.contains(Hurdle::Database) &&
         trouble.what.find("database: ") != std::string::npos;
}

template <typename Counts>
std::string troubles_in(const OfficeView& view, MonoTime now, AgeText text, const Counts& counts) {
  std::string out;
  for (const auto& [hurdle, trouble] : view.troubles) {
    if (!counts(hurdle, trouble) || is_told_already(view, hurdle, trouble)) continue;
    const std::string what = std::string(opening_of(hurdle)) + trouble.what;
    out += (out.empty() ? "" : "; ") + with_age(what, floor_ms(now - trouble.since), text);
    if (!trouble.remedy.empty()) out += "; " + trouble.remedy;
  }
  return out;
}

std::string nobody_leads(const OfficeView& view, MonoTime now, AgeText text) {
  const bool is_blind = view.troubles.contains(Hurdle::Session);
  const std::string age = text(floor_ms(now - view.since));
  std::string out = is_blind ? "no leader is known here" : "no master leads";
  if (!age.empty()) out += " for " + age;
  const std::string why = troubles_in(view, now, text, [](Hurdle, const OfficeTrouble&) { return true; });
  return out + (why.empty() ? "" : ": " + why);
}

/// What would stop this master if the present leader went away.
bool stops_a_successor(Hurdle hurdle) {
  return hurdle != Hurdle::Session && hurdle != Hurdle::Predecessor;
}

}  // namespace

std::string_view name_of(Hurdle hurdle) {
  switch (hurdle) {
    case Hurdle::Session: return "session";
    case Hurdle::Database: return "database";
    case Hurdle::Cluster: return "cluster";
    case Hurdle::Takeover: return "takeover";
    case Hurdle::Election: return "election";
    case Hurdle::Predecessor: return "predecessor";
  }
  return "?";
}

std::string why_nobody_leads(const OfficeView& view, MonoTime now) {
  return view.leads == Leads::Nobody ? nobody_leads(view, now, exact) : "";
}

std::string office_word(const OfficeView& view, MonoTime now) {
  if (view.leads == Leads::This) return "ok";
  if (view.leads == Leads::Nobody) {
    return now - view.since < kLongWithoutLeader ? "ok" : nobody_leads(view, now, in_steps);
  }
  const std::string why = troubles_in(view, now, in_steps, [&](Hurdle hurdle, const OfficeTrouble& trouble) {
    return stops_a_successor(hurdle) && now - trouble.since >= kLongWithoutLeader;
  });
  return why.empty() ? "ok" : "another master leads, but " + why;
}

OfficeState::OfficeState(const Clock& clock) : clock_(clock) { view_.since = clock.mono(); }

void OfficeState::put(Hurdle hurdle, OfficeTrouble trouble) {
  std::scoped_lock lock(mutex_);
  const auto standing = view_.troubles.find(hurdle);
  trouble.since = standing == view_.troubles.end() ? clock_.mono() : standing->second.since;
  view_.troubles[hurdle] = std::move(trouble);
}

void OfficeState::report(Hurdle hurdle, std::string what, std::string remedy) {
  put(hurdle, {std::move(what), std::move(remedy), {}, false});
}

void OfficeState::report_passing(Hurdle hurdle, std::string what) {
  put(hurdle, {std::move(what), "", {}, true});
}

void OfficeState::clear(Hurdle hurdle) {
  std::scoped_lock lock(mutex_);
  view_.troubles.erase(hurdle);
}

void OfficeState::see(Leads leads) {
  std::scoped_lock lock(mutex_);
  if (leads != Leads::Nobody) {
    std::erase_if(view_.troubles, [](const auto& one) { return one.second.passes; });
  }
  if (leads == view_.leads) return;
  view_.leads = leads;
  view_.since = clock_.mono();
}

void OfficeState::begin_takeover() {
  std::scoped_lock lock(mutex_);
  takeover_began_ = clock_.mono();
}

void OfficeState::end_takeover() {
  std::scoped_lock lock(mutex_);
  takeover_began_.reset();
}

OfficeView OfficeState::view() const {
  std::scoped_lock lock(mutex_);
  OfficeView view = view_;
  if (takeover_began_ && !view.troubles.contains(Hurdle::Takeover) &&
      clock_.mono() - *takeover_began_ >= kLongTakeover) {
    view.troubles[Hurdle::Takeover] = {
        "it is elected, and still reads and writes what taking office needs",
        "a slow database or ZooKeeper?", *takeover_began_, true};
  }
  return view;
}

}  // namespace rota::master
