// Request keys that this Term has seen, so that a repeat gets the answer of the first. Kept for a time, and
// at most so many: who repeats later is answered by the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::master::core {

/// Thread: the Scheduler's. A key costs its text and some 40 bytes: one block for its texts, and a hash table
/// of numbers.
class KeyMemory {
 public:
  static constexpr std::size_t kKeysMost = 200'000;

  struct Seen {
    std::string_view hash;             ///< of what was asked for; valid until the memory changes
    RunId run;
  };

  /// None: this Term has not seen it, or not for long.
  std::optional<Seen> find(std::string_view principal, std::string_view key) const;
  /// It is not remembered yet. Those that are remembered later are not forgotten before.
  void remember(std::string_view principal, std::string_view key, std::string_view hash, RunId run,
                MonoTime until);
  void forget_old(MonoTime now);
  /// The latest `until` of those that were forgotten; none yet: the lowest moment.
  MonoTime forgotten_until() const { return forgotten_until_; }
  std::size_t size() const { return order_.size(); }

 private:
  /// Whoever asked and the key are one text, told apart by the length of the first.
  class Entry {
   public:
    Entry(std::string_view principal, std::string_view key, std::string_view hash, RunId run, MonoTime until);
    bool is_of(std::string_view principal, std::string_view key) const;
    std::uint32_t mix() const { return mix_of(principal(), key()); }
    std::string_view principal() const { return {text_.get(), principal_bytes_}; }
    std::string_view key() const { return {text_.get() + principal_bytes_, key_bytes_}; }
    std::string_view hash() const { return {text_.get() + principal_bytes_ + key_bytes_, hash_bytes_}; }

    RunId run;
    MonoTime until;

   private:
    std::unique_ptr<char[]> text_;
    std::uint16_t principal_bytes_, key_bytes_, hash_bytes_;
  };

  /// Its mix is beside the number, so that a search looks at hardly any other key.
  struct Place {
    std::uint32_t number = 0;          ///< 0: empty
    std::uint32_t mix = 0;
  };

  static std::uint32_t mix_of(std::string_view principal, std::string_view key);
  void forget_first();
  /// Numbers all of them anew, in a table of that size.
  void arrange(std::size_t places);
  void put(std::uint32_t number);
  std::size_t home_of(std::uint32_t mix) const { return mix & (table_.size() - 1); }
  std::size_t behind(std::size_t place) const { return (place + 1) & (table_.size() - 1); }
  const Entry& numbered(std::uint32_t number) const { return order_[number - first_]; }

  std::deque<Entry> order_;            ///< the oldest first
  std::uint32_t first_ = 1;            ///< the number of the oldest; 0 is none's
  MonoTime forgotten_until_ = MonoTime::min();
  std::vector<Place> table_;           ///< each where its mix says, or at the next free place
};

}  // namespace rota::master::core
