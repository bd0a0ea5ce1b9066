#include "master/api/place_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/utf8.h"

namespace rota::master::api {
namespace {

using core::LineView;
using core::SpaceTurnView;

/// Lines of one pool that take turns, as the core has them.
class Play {
 public:
  Play(const core::LinesView& view, const std::string& pool, const std::string& own_space, WallTime now)
      : minute_(std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()).count()) {
    for (const SpaceTurnView& space : view.spaces) {
      last_ = std::max(last_, space.last);
      if (space.is_full && space.name != own_space) continue;
      spaces_[space.name].view = space;
    }
    for (std::size_t i = 0; i < view.lines.size(); ++i) {
      last_ = std::max(last_, view.lines[i].last);
      const auto space = spaces_.find(view.lines[i].space);
      if (view.lines[i].pool != pool || space == spaces_.end()) continue;
      lines_[i] = view.lines[i];
      space->second.turns.insert(turn_of(i));
    }
    for (const auto& [name, space] : spaces_) {
      if (!space.turns.empty()) ranks_.insert(rank_of(space.view));
    }
  }

  /// The line whose run starts next; nothing: none waits.
  std::optional<std::size_t> next() {
    if (ranks_.empty()) return std::nullopt;
    Space& space = spaces_.at(std::get<2>(*ranks_.begin()));
    const std::size_t line = std::get<4>(*space.turns.begin());
    pass_turn(space, line);
    return line;
  }

 private:
  using Turn = std::tuple<std::int64_t, std::int64_t, std::int64_t, RunId, std::size_t>;
  using Rank = std::tuple<double, std::int64_t, std::string>;
  struct Space {
    SpaceTurnView view;
    std::set<Turn> turns;
  };

  Turn turn_of(std::size_t at) const {
    const LineView& line = lines_.at(at);
    return {line.rank, line.held, line.last, line.head, at};
  }
  static Rank rank_of(const SpaceTurnView& space) {
    return {static_cast<double>(space.held) / static_cast<double>(space.weight), space.last, space.name};
  }

  void pass_turn(Space& space, std::size_t at) {
    ranks_.erase(rank_of(space.view));
    space.turns.erase(turn_of(at));
    LineView& line = lines_.at(at);
    ++last_;
    line.held += line.slots;
    line.last = last_;
    line.rank = minute_ - line.priority;
    if (--line.runs > 0) space.turns.insert(turn_of(at));
    space.view.held += line.slots;
    space.view.last = last_;
    if (!space.turns.empty()) ranks_.insert(rank_of(space.view));
  }

  const std::int64_t minute_;
  std::int64_t last_ = 0;
  std::map<std::size_t, LineView> lines_;
  std::map<std::string, Space> spaces_;
  std::set<Rank> ranks_;
};

std::string ordinal(std::int64_t number) {
  const bool is_teen = number % 100 >= 11 && number % 100 <= 13;
  const char* end = "th";
  if (!is_teen && number % 10 == 1) end = "st";
  if (!is_teen && number % 10 == 2) end = "nd";
  if (!is_teen && number % 10 == 3) end = "rd";
  return std::to_string(number) + end;
}

}  // namespace

std::optional<Place> place_of(const core::LinesView& lines, const core::PlaceView& run, WallTime now,
                              std::int64_t waiting) {
  if (run.line < 0 || static_cast<std::size_t>(run.line) >= lines.lines.size()) return std::nullopt;
  const std::size_t own = static_cast<std::size_t>(run.line);
  const LineView& line = lines.lines[own];
  Place place;
  place.pool = line.pool;
  place.priority = line.priority;
  place.is_least = !lines.is_whole;
  const auto space = std::ranges::find(lines.spaces, line.space, &SpaceTurnView::name);
  if (space != lines.spaces.end()) place.weight = space->weight;
  std::int64_t in_lines = 0;
  for (const LineView& each : lines.lines) in_lines += each.pool == line.pool ? each.runs : 0;
  place.waiting = std::max(waiting, in_lines);
  Play play(lines, line.pool, line.space, now);
  std::int64_t of_own = 0;
  while (place.place < kPlacesPlayed) {
    const auto next = play.next();
    if (!next) break;
    ++place.place;
    if (*next == own && of_own++ == run.before) return place;
  }
  place.is_least = true;
  place.place = std::max<std::int64_t>(place.place, 1);
  return place;
}

std::string place_words(const Place& place, const std::string& space) {
  return fmt::format("{}{} of {} in line for pool {} (priority {}; namespace {} has weight {}).",
                     place.is_least ? "at least " : "", ordinal(place.place), place.waiting,
                     shown_text(place.pool), place.priority, shown_text(space), place.weight);
}

}  // namespace rota::master::api
