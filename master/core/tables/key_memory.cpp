#include "master/core/tables/key_memory.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace rota::master::core {
namespace {

constexpr std::size_t kPlacesLeast = 64;

/// Longer texts than any that is let in would be cut, and the key with them be another one.
std::uint16_t bytes_of(std::string_view text) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  return static_cast<std::uint16_t>(std::min(text.size(), kMost));
}

}  // namespace

KeyMemory::Entry::Entry(std::string_view principal, std::string_view key, std::string_view hash, RunId of_run,
                        MonoTime forget)
    : run(of_run),
      until(forget),
      text_(new char[std::size_t{bytes_of(principal)} + bytes_of(key) + bytes_of(hash)]),
      principal_bytes_(bytes_of(principal)),
      key_bytes_(bytes_of(key)),
      hash_bytes_(bytes_of(hash)) {
  char* end = std::copy_n(principal.data(), principal_bytes_, text_.get());
  end = std::copy_n(key.data(), key_bytes_, end);
  std::copy_n(hash.data(), hash_bytes_, end);
}

bool KeyMemory::Entry::is_of(std::string_view principal_in, std::string_view key_in) const {
  return key() == key_in && principal() == principal_in;
}

std::uint32_t KeyMemory::mix_of(std::string_view principal, std::string_view key) {
  const std::hash<std::string_view> hash;
  return static_cast<std::uint32_t>(hash(key) ^ (hash(principal) * 31));
}

std::optional<KeyMemory::Seen> KeyMemory::find(std::string_view principal, std::string_view key) const {
  if (order_.empty()) return std::nullopt;
  const std::uint32_t mix = mix_of(principal, key);
  for (std::size_t at = home_of(mix); table_[at].number != 0; at = behind(at)) {
    if (table_[at].mix != mix) continue;
    const Entry& entry = numbered(table_[at].number);
    if (entry.is_of(principal, key)) return Seen{entry.hash(), entry.run};
  }
  return std::nullopt;
}

void KeyMemory::remember(std::string_view principal, std::string_view key, std::string_view hash, RunId run,
                         MonoTime until) {
  if (order_.size() >= kKeysMost) forget_first();
  order_.emplace_back(principal, key, hash, run, until);
  const bool is_last_number = first_ > std::numeric_limits<std::uint32_t>::max() - kKeysMost - 1;
  if (order_.size() * 2 > table_.size() || is_last_number) {
    arrange(std::max(kPlacesLeast, order_.size() * 2 > table_.size() ? table_.size() * 2 : table_.size()));
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
  ++first_;
  if (!order_.empty()) return;
  first_ = 1;
  table_ = {};
}

}  // namespace rota::master::core
