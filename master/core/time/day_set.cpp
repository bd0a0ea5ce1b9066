#include "master/core/time/day_set.h"

#include <algorithm>
#include <bit>

namespace rota::master::core {
namespace {

constexpr std::int64_t kWordDays = 64;
constexpr std::int64_t kLastWord = kLastCalendarDay / kWordDays;
constexpr std::uint64_t kAll = ~std::uint64_t{0};

std::int64_t word_of(std::int64_t day) { return day >> 6; }

/// Bits from `low` through 63.
std::uint64_t bits_from(std::int64_t low) { return kAll << low; }
/// Bits from 0 through `high`.
std::uint64_t bits_through(std::int64_t high) { return kAll >> (kWordDays - 1 - high); }

/// The weekdays laid out over the days of a word.
std::uint64_t weeks(unsigned weekdays, std::int64_t at) {
  const std::int64_t weekday = ((at * kWordDays + 4) % 7 + 7) % 7;  // 1970 began on a Thursday
  const unsigned week = weekdays & 0x7f;
  const std::uint64_t turned = ((week >> weekday) | (week << (7 - weekday))) & 0x7f;
  std::uint64_t out = turned | turned << 7;
  out |= out << 14;
  out |= out << 28;
  return out | out << 56;
}

}  // namespace

std::uint64_t DaySet::word(std::int64_t at) const {
  if (at >= told_from_ && at < told_end()) return told_[static_cast<std::size_t>(at - told_from_)];
  if (at > kLastWord || weekdays_ == 0) return 0;
  const std::uint64_t out = weeks(weekdays_, at);
  return at < kLastWord ? out : out & bits_through(kLastCalendarDay % kWordDays);
}

/// All words of that stretch, and those between it and the others, are told.
void DaySet::tell(std::int64_t first_word, std::int64_t last_word) {
  const std::int64_t first = told_.empty() ? first_word : std::min(told_from_, first_word);
  const std::int64_t last = told_.empty() ? last_word : std::max(told_end() - 1, last_word);
  if (!told_.empty() && first == told_from_ && last < told_end()) return;
  std::vector<std::uint64_t> words;
  words.reserve(static_cast<std::size_t>(last - first + 1));
  for (std::int64_t at = first; at <= last; ++at) words.push_back(word(at));
  told_ = std::move(words);
  told_from_ = first;
}

void DaySet::set(const model::DayRange& range, unsigned weekdays) {
  const std::int64_t first = range.first.time_since_epoch().count();
  const std::int64_t last = std::min<std::int64_t>(range.last.time_since_epoch().count(), kLastCalendarDay);
  if (first > last) return;
  tell(word_of(first), word_of(last));
  for (std::int64_t at = word_of(first); at <= word_of(last); ++at) {
    std::uint64_t mask = kAll;
    if (at == word_of(first)) mask &= bits_from(first - at * kWordDays);
    if (at == word_of(last)) mask &= bits_through(last - at * kWordDays);
    std::uint64_t& word = told_[static_cast<std::size_t>(at - told_from_)];
    word = (word & ~mask) | (weeks(weekdays, at) & mask);
  }
}

std::uint64_t DaySet::from(std::int64_t first) const {
  const std::int64_t at = word_of(first), shift = first - at * kWordDays;
  const std::uint64_t low = word(at) >> shift;
  return shift == 0 ? low : low | word(at + 1) << (kWordDays - shift);
}

std::optional<std::int64_t> DaySet::next(std::int64_t day) const {
  std::int64_t at = word_of(day);
  std::uint64_t bits = word(at) & bits_from(day - at * kWordDays);
  while (bits == 0) {
    ++at;
    if (weekdays_ == 0) at = std::max(at, told_from_);
    if (at > (weekdays_ == 0 ? told_end() - 1 : kLastWord)) return std::nullopt;
    bits = word(at);
  }
  return at * kWordDays + std::countr_zero(bits);
}

std::optional<std::int64_t> DaySet::last() const {
  const std::int64_t first = weekdays_ == 0 ? told_from_ : 0;
  for (std::int64_t at = weekdays_ == 0 ? told_end() - 1 : kLastWord; at >= first; --at) {
    if (const std::uint64_t bits = word(at); bits != 0) return at * kWordDays + 63 - std::countl_zero(bits);
  }
  return std::nullopt;
}

}  // namespace rota::master::core
