#include "master/core/tables/key_memory.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

namespace rota::master::core {
namespace {

constexpr std::size_t kPlacesLeast = 64;

constexpr std::size_t kBlockBytes = 64u << 10;
/// Longer texts than any that is let in would be cut, and the key with them be another one.
constexpr std::size_t kTextMost = 30'000;
constexpr std::size_t kDigitsWorthIt = 8;
constexpr std::size_t kSegmentMost = 255;

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// An even number of digits from there on that is worth packing, at most those of one segment; else 0.
std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && end - from < 2 * kSegmentMost && digit_of(text[end]) >= 0) ++end;
  const std::size_t even = (end - from) & ~std::size_t{1};
  return even < kDigitsWorthIt ? 0 : even;
}

/// Segments: a length, so many characters as they are, another length, and so many pairs of digits as bytes.
/// The first one with fewer characters than fit and without digits is the last. So a text can be told from
/// its bytes, and texts one behind the other from theirs: no others give the same.
void pack(std::string_view text, std::string& out) {
  for (std::size_t at = 0;;) {
    const std::size_t begin = at;
    while (at < text.size() && at - begin < kSegmentMost && digits_at(text, at) == 0) ++at;
    const std::size_t digits = digits_at(text, at);
    out += static_cast<char>(at - begin);
    out += text.substr(begin, at - begin);
    out += static_cast<char>(digits / 2);
    const bool is_last = at - begin < kSegmentMost && digits == 0;
    for (const std::size_t end = at + digits; at < end; at += 2) {
      out += static_cast<char>(digit_of(text[at]) * 16 + digit_of(text[at + 1]));
    }
    if (is_last) return;
  }
}

}  // namespace

KeyMemory::Packed::Packed(std::string_view principal, std::string_view key, std::string_view hash) {
  pack(principal.substr(0, kTextMost), text);
  pack(key.substr(0, kTextMost), text);
  name_bytes = text.size();
  pack(hash.substr(0, kTextMost), text);
}

std::size_t KeyMemory::Entry::length(int of) const {
  std::uint16_t length = 0;
  std::memcpy(&length, text_ + static_cast<std::size_t>(of) * sizeof length, sizeof length);
  return length;
}

char* KeyMemory::TextLog::add(std::size_t bytes) {
  if (blocks_.empty() || blocks_.back().size - blocks_.back().used < bytes) {
    const std::size_t size = std::max(kBlockBytes, bytes);
    blocks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
  }
  Block& block = blocks_.back();
  ++block.texts;
  return block.bytes.get() + std::exchange(block.used, block.used + bytes);
}

void KeyMemory::TextLog::drop_first() {
  if (--blocks_.front().texts == 0) blocks_.pop_front();
}

std::uint32_t KeyMemory::mix_of(std::string_view name) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
}

std::optional<KeyMemory::Seen> KeyMemory::find(std::string_view principal, std::string_view key,
                                               std::string_view hash) const {
  if (order_.empty()) return std::nullopt;
  const Packed asked(principal, key, hash);
  const std::uint32_t mix = mix_of(asked.name());
  for (std::size_t at = home_of(mix); table_[at].number != 0; at = behind(at)) {
    if (table_[at].mix != mix) continue;
    const Entry& entry = numbered(table_[at].number);
    if (entry.name() == asked.name()) return Seen{entry.hash() == asked.hash(), entry.run};
  }
  return std::nullopt;
}

void KeyMemory::remember(std::string_view principal, std::string_view key, std::string_view hash, RunId run,
                         MonoTime until) {
  if (order_.size() >= kKeysMost) forget_first();
  const Packed packed(principal, key, hash);
  const std::uint16_t lengths[] = {static_cast<std::uint16_t>(packed.name_bytes),
                                   static_cast<std::uint16_t>(packed.text.size() - packed.name_bytes)};
  char* const text = texts_.add(kHeadBytes + packed.text.size());
  std::memcpy(text, lengths, kHeadBytes);
  std::memcpy(text + kHeadBytes, packed.text.data(), packed.text.size());
  order_.emplace_back(text, run, until);
  const bool is_last_number = first_ > std::numeric_limits<std::uint32_t>::max() - kKeysMost - 1;
  const bool is_full = order_.size() * 5 > table_.size() * 4;
  if (is_full || is_last_number) {
    arrange(is_full ? std::max(kPlacesLeast, table_.size() * 2) : table_.size());
  } else {
    put(first_ + static_cast<std::uint32_t>(order_.size() - 1));
  }
}

void KeyMemory::arrange(std::size_t places) {
  first_ = 1;
  table_.assign(places, {});
  for (std::size_t i = 0; i < order_.size(); ++i) put(first_ + static_cast<std::uint32_t>(i));
}

void KeyMemory::put(std::uint32_t number) {
  const std::uint32_t mix = numbered(number).mix();
  std::size_t at = home_of(mix);
  while (table_[at].number != 0) at = behind(at);
  table_[at] = {number, mix};
}

void KeyMemory::forget_old(MonoTime now) {
  while (!order_.empty() && order_.front().until <= now) forget_first();
}

/// Those that stand behind it move up, so that a search never ends at a gap before its key.
void KeyMemory::forget_first() {
  forgotten_until_ = std::max(forgotten_until_, order_.front().until);
  const std::size_t mask = table_.size() - 1;
  std::size_t gap = home_of(order_.front().mix());
  while (table_[gap].number != first_) gap = behind(gap);
  for (std::size_t at = behind(gap); table_[at].number != 0; at = behind(at)) {
    if (((at - home_of(table_[at].mix)) & mask) < ((at - gap) & mask)) continue;  // between its home and here
    table_[gap] = table_[at];
    gap = at;
  }
  table_[gap] = {};
  order_.pop_front();
  texts_.drop_first();
  ++first_;
  if (!order_.empty()) return;
  first_ = 1;
  table_ = {};
}

}  // namespace rota::master::core
