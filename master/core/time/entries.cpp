#include "master/core/time/entries.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/model/entry_rules.h"
#include "master/core/time/cron_hash.h"

namespace rota::master::core {
namespace {

/// Whether its ticks come from the clock alone.
bool is_by_clock(const CompiledEntry& entry) {
  return entry.kind() != model::EntryKind::AfterEnd && entry.kind() != model::EntryKind::WorkerStart;
}

}  // namespace

static_assert(model::kMostEntries <= 32, "a bit for each");

CompiledEntries::CompiledEntries(std::vector<CompiledEntry> entries) : entries_(std::move(entries)) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].next_after(WallTime{})) fires_ |= std::uint32_t{1} << i;
    if (entries_[i].jitter() > Millis{0}) has_jitter_ = true;
    if (entries_[i].kind() == model::EntryKind::AfterEnd) after_end_ = static_cast<int>(i);
  }
}

const CompiledEntry* CompiledEntries::after_end() const {
  return after_end_ < 0 ? nullptr : &entries_[static_cast<std::size_t>(after_end_)];
}

std::string CompiledEntries::name_of(std::size_t i) const {
  return entries_[i].name().empty() ? std::to_string(i + 1) : entries_[i].name();
}

std::optional<WallTime> CompiledEntries::next_of(std::size_t i, WallTime after) const {
  return (fires_ >> i & 1) == 0 ? std::nullopt : entries_[i].next_after(after);
}

std::optional<WallTime> CompiledEntries::next_after(WallTime after) const {
  std::optional<WallTime> first;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto next = next_of(i, after);
    if (next) first = std::min(first.value_or(*next), *next);
  }
  return first;
}

std::optional<WallTime> CompiledEntries::next_edited_away(WallTime after) const {
  while (true) {
    std::optional<WallTime> first;
    for (const CompiledEntry& entry : entries_) {
      const auto next = entry.next_edited_away(after);
      if (next) first = std::min(first.value_or(*next), *next);
    }
    if (!first || next_after(*first - kSmallestStep) != first) return first;
    after = *first;
  }
}

std::int64_t CompiledEntries::count_between(WallTime after, WallTime through, std::int64_t limit) const {
  if (fires_ == 0) return 0;
  if (entries_.size() == 1) return entries_.front().count_between(after, through, limit);
  // Moments of several entries count once, so they are met one by one; each
  // entry is only asked again when its own moment has come.
  std::vector<std::optional<WallTime>> next;
  for (std::size_t i = 0; i < entries_.size(); ++i) next.push_back(next_of(i, after));
  for (std::int64_t count = 0;; ++count) {
    std::optional<WallTime> first;
    for (const auto& each : next) {
      if (each) first = std::min(first.value_or(*each), *each);
    }
    if (!first || *first > through || count >= limit) return count;
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (next[i] == first) next[i] = next_of(i, *first);
    }
  }
}

bool CompiledEntries::fires_often() const {
  return std::ranges::any_of(entries_, [](const CompiledEntry& entry) { return entry.fires_often(); });
}

bool CompiledEntries::is_due(std::size_t i, WallTime tick) const {
  return next_of(i, tick - kSmallestStep) == tick;
}

std::vector<std::string> CompiledEntries::names_at(WallTime tick) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!is_due(i, tick)) continue;
    names.push_back(name_of(i));
  }
  if (names.empty() && after_end_ >= 0) names.push_back(name_of(static_cast<std::size_t>(after_end_)));
  return names;
}

Millis CompiledEntries::jitter_at(WallTime tick, std::uint64_t hash) const {
  if (!has_jitter_) return Millis{0};
  std::optional<Millis> least;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!is_due(i, tick)) continue;
    const Millis jitter = jitter_of(hash, entries_[i].jitter());
    least = std::min(least.value_or(jitter), jitter);
  }
  if (!least && after_end_ >= 0) return jitter_of(hash, after_end()->jitter());
  return least.value_or(Millis{0});
}

bool CompiledEntries::fires_at_start(std::size_t i, WallTime at) const {
  return entries_[i].kind() == model::EntryKind::WorkerStart && entries_[i].is_valid_at(at);
}

std::vector<std::string> CompiledEntries::names_at_start(WallTime at) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (fires_at_start(i, at)) names.push_back(name_of(i));
  }
  return names;
}

/// Spread by the start too: a thousand workers that start together do not run the job all at once.
Millis CompiledEntries::jitter_at_start(WallTime at, std::string_view start, std::uint64_t hash) const {
  std::optional<Millis> least;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!fires_at_start(i, at)) continue;
    const Millis own{spread(hash, start, entries_[i].jitter().count() + 1)};
    least = least ? std::min(*least, own) : own;
  }
  return least.value_or(Millis{0});
}

std::vector<std::string> entries_problems(const std::vector<model::ScheduleEntry>& entries) {
  std::vector<std::string> problems;
  if (entries.size() > model::kMostEntries) {
    problems.push_back(
        fmt::format("schedule: {} entries, at most {} are allowed", entries.size(), model::kMostEntries));
  }
  const auto add = [&problems](std::size_t i, std::string_view what) {
    problems.push_back(fmt::format("schedule[{}].{}", i, what));
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (const std::string& problem : entry_problems(entries[i])) add(i, problem);
  }
  for (const model::EntryProblem& each : model::problems_among(entries)) {
    add(each.entry, fmt::format("{}: {}", each.key, each.what));
  }
  return problems;
}

std::string why_never(const CompiledEntries& entries, WallTime from) {
  for (std::size_t i = 0; i < entries.all().size(); ++i) {
    const CompiledEntry& entry = entries.all()[i];
    if (!is_by_clock(entry) || entry.next_after(from)) continue;
    return fmt::format("schedule[{}] can never fire: {}", i,
                       entry.has_rules() ? "none of its moments lies on a day "
                                           "and at a time that its calendars "
                                           "and `between` leave open; change one of them"
                                         : "it has no moment from now on");
  }
  return {};
}

}  // namespace rota::master::core
