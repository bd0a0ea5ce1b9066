// Request keys that this Term has seen, so that a repeat gets the answer of the first. Kept for a time, and
// at most so many: who repeats later is answered by the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::master::core {

/// Thread: the Scheduler's. A key costs its packed text and some 40 bytes: its lengths, an entry, and a place
/// in a hash table of numbers.
class KeyMemory {
 public:
  static constexpr std::size_t kKeysMost = 200'000;

  struct Seen {
    bool has_same_hash = false;        ///< of what was asked for
    RunId run;
  };

  /// None: this Term has not seen it, or not for long.
  std::optional<Seen> find(std::string_view principal, std::string_view key, std::string_view hash) const;
  /// It is not remembered yet. Those that are remembered later are not forgotten before.
  void remember(std::string_view principal, std::string_view key, std::string_view hash, RunId run,
                MonoTime until);
  void forget_old(MonoTime now);
  /// The latest `until` of those that were forgotten; none yet: the lowest moment.
  MonoTime forgotten_until() const { return forgotten_until_; }
  std::size_t size() const { return order_.size(); }

 private:
  /// What a key consists of, as it is kept: hexadecimal digits, of which most keys and all hashes are made,
  /// as bytes.
  struct Packed {
    Packed(std::string_view principal, std::string_view key, std::string_view hash);
    /// Principal and key.
    std::string_view name() const { return std::string_view(text).substr(0, name_bytes); }
    std::string_view hash() const { return std::string_view(text).substr(name_bytes); }
    std::string text;
    std::size_t name_bytes = 0;
  };

  class Entry {
   public:
    /// Behind two lengths, `text` holds what was packed.
    Entry(const char* text, RunId of_run, MonoTime forget) : run(of_run), until(forget), text_(text) {}
    std::string_view name() const { return {text_ + kHeadBytes, length(0)}; }
    std::string_view hash() const { return {text_ + kHeadBytes + length(0), length(1)}; }
    std::uint32_t mix() const { return mix_of(name()); }

    RunId run;
    MonoTime until;

   private:
    std::size_t length(int of) const;
    const char* text_;
  };

  /// Texts one behind the other, in large blocks. The oldest goes first.
  class TextLog {
   public:
    /// Room for so many bytes, valid until it is dropped.
    char* add(std::size_t bytes);
    void drop_first();

   private:
    struct Block {
      std::unique_ptr<char[]> bytes;
      std::size_t size = 0, used = 0, texts = 0;
    };
    std::deque<Block> blocks_;
  };

  /// Its mix is beside the number, so that a search looks at hardly any other key.
  struct Place {
    std::uint32_t number = 0;          ///< 0: empty
    std::uint32_t mix = 0;
  };

  static constexpr std::size_t kHeadBytes = 2 * sizeof(std::uint16_t);
  static std::uint32_t mix_of(std::string_view name);
  void forget_first();
  /// Numbers all of them anew, in a table of that size.
  void arrange(std::size_t places);
  void put(std::uint32_t number);
  std::size_t home_of(std::uint32_t mix) const { return mix & (table_.size() - 1); }
  std::size_t behind(std::size_t place) const { return (place + 1) & (table_.size() - 1); }
  const Entry& numbered(std::uint32_t number) const { return order_[number - first_]; }

  std::deque<Entry> order_;            ///< the oldest first
  TextLog texts_;                      ///< theirs
  std::uint32_t first_ = 1;            ///< the number of the oldest; 0 is none's
  MonoTime forgotten_until_ = MonoTime::min();
  std::vector<Place> table_;           ///< each where its mix says, or at the next free place
};

}  // namespace rota::master::core
