// Sets and maps by id as sorted arrays: what is added is nearly always the newest, so it goes to the end, and
// an id that is taken out leaves a mark until marks outnumber what is left. No entry has a node of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/check.h"

namespace rota::master::core {

/// Marks beyond this number and beyond the number of entries are cleared away.
inline constexpr std::size_t kMarksKept = 32;
/// An array of more slots than this is given back when nothing is left in it.
inline constexpr std::size_t kSlotsKept = 1024;

/// What IdSet and IdMap have in common. `Slot` knows its id and whether it is a mark. Adding or taking out
/// makes iterators invalid.
template <typename Slot, typename Id>
class IdSlots {
 public:
  std::size_t size() const { return live_; }
  bool empty() const { return live_ == 0; }
  bool contains(Id id) const { return live_at(id) != nullptr; }

 protected:
  const Slot* first() const { return slots_.data() + head_; }
  const Slot* last() const { return slots_.data() + slots_.size(); }
  const Slot* above(Id id) const {
    return std::upper_bound(first(), last(), id, [](Id key, const Slot& slot) { return key < slot.id(); });
  }

  const Slot* live_at(Id id) const {
    if (live_ == 0) return nullptr;
    const Slot* const newest = last() - 1;  // never a mark
    if (newest->id() == id) return newest;
    const Slot* const found = at_or_above(id);
    return found != last() && found->id() == id && !found->is_mark() ? found : nullptr;
  }
  Slot* live_at(Id id) { return const_cast<Slot*>(std::as_const(*this).live_at(id)); }

  /// The id is not in it.
  Slot& add(Slot slot) {
    ++live_;
    if (slots_.empty() || slots_.back().id() < slot.id()) return slots_.emplace_back(std::move(slot));
    auto at = slots_.begin() + (at_or_above(slot.id()) - slots_.data());
    if (at->id() == slot.id()) return *at = std::move(slot);  // its own mark
    const std::size_t place = static_cast<std::size_t>(at - slots_.begin());
    slots_.insert(at, std::move(slot));
    head_ = std::min(head_, place);
    return slots_[place];
  }

  /// It is in it.
  void take_out(Slot& slot) {
    slot.mark();
    --live_;
    if (live_ == 0) return clear_away();
    while (slots_[head_].is_mark()) ++head_;
    while (slots_.back().is_mark()) slots_.pop_back();
    if (slots_.size() - live_ > live_ + kMarksKept) drop_marks();
  }

 private:
  const Slot* at_or_above(Id id) const {
    return std::lower_bound(first(), last(), id, [](const Slot& slot, Id key) { return slot.id() < key; });
  }

  void clear_away() {
    slots_.clear();
    head_ = 0;
    if (slots_.capacity() > kSlotsKept) slots_.shrink_to_fit();
  }

  void drop_marks() {
    std::erase_if(slots_, [](const Slot& slot) { return slot.is_mark(); });
    head_ = 0;
    CHECK_OR_DIE(slots_.size() == live_, "an array of ids lost count");
  }

  std::vector<Slot> slots_;            ///< ascending; the last is no mark
  std::size_t head_ = 0;               ///< before it there are only marks
  std::size_t live_ = 0;
};

/// An id of 63 bits; the highest bit makes it a mark.
template <typename Id>
class IdSetSlot {
 public:
  explicit IdSetSlot(Id id) : bits_(id.value) {}
  Id id() const { return Id{bits_ & ~kMark}; }
  bool is_mark() const { return bits_ < 0; }
  void mark() { bits_ |= kMark; }

 private:
  static constexpr std::int64_t kMark = INT64_MIN;
  std::int64_t bits_;
};

template <typename Id>
class IdSet : private IdSlots<IdSetSlot<Id>, Id> {
  using Slot = IdSetSlot<Id>;
  using Base = IdSlots<Slot, Id>;

 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using pointer = const Id*;
    using reference = Id;
    iterator() = default;
    iterator(const Slot* at, const Slot* end) : at_(at), end_(end) { pass_marks(); }
    Id operator*() const { return at_->id(); }
    iterator& operator++() {
      ++at_;
      pass_marks();
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    void pass_marks() {
      while (at_ != end_ && at_->is_mark()) ++at_;
    }
    const Slot* at_ = nullptr;
    const Slot* end_ = nullptr;
  };

  using Base::contains;
  using Base::empty;
  using Base::size;
  iterator begin() const { return {Base::first(), Base::last()}; }
  iterator end() const { return {Base::last(), Base::last()}; }

  /// False: it was in it already.
  bool insert(Id id) {
    if (Base::contains(id)) return false;
    Base::add(Slot(id));
    return true;
  }
  /// False: it was not in it.
  bool erase(Id id) {
    Slot* const found = Base::live_at(id);
    if (found == nullptr) return false;
    Base::take_out(*found);
    return true;
  }
};

template <typename Id, typename Entry>
class IdMapSlot {
 public:
  IdMapSlot(Id id, std::unique_ptr<Entry> entry) : id_(id), entry_(std::move(entry)) {}
  Id id() const { return id_; }
  bool is_mark() const { return entry_ == nullptr; }
  void mark() { entry_.reset(); }
  Entry& entry() const { return *entry_; }

 private:
  Id id_;
  std::unique_ptr<Entry> entry_;
};

/// The entries stay where they are as long as they are in it.
template <typename Id, typename Entry>
class IdMap : private IdSlots<IdMapSlot<Id, Entry>, Id> {
  using Slot = IdMapSlot<Id, Entry>;
  using Base = IdSlots<Slot, Id>;

 public:
  /// Gives pairs of an id and its entry, in the order of the ids.
  template <typename Seen>
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::pair<Id, Seen&>;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = value_type;
    Iterator() = default;
    Iterator(const Slot* at, const Slot* end) : at_(at), end_(end) { pass_marks(); }
    value_type operator*() const { return {at_->id(), at_->entry()}; }
    Iterator& operator++() {
      ++at_;
      pass_marks();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void pass_marks() {
      while (at_ != end_ && at_->is_mark()) ++at_;
    }
    const Slot* at_ = nullptr;
    const Slot* end_ = nullptr;
  };
  using iterator = Iterator<Entry>;
  using const_iterator = Iterator<const Entry>;

  using Base::contains;
  using Base::empty;
  using Base::size;
  iterator begin() { return {Base::first(), Base::last()}; }
  iterator end() { return {Base::last(), Base::last()}; }
  const_iterator begin() const { return {Base::first(), Base::last()}; }
  const_iterator end() const { return {Base::last(), Base::last()}; }
  iterator upper_bound(Id id) { return {Base::above(id), Base::last()}; }
  const_iterator upper_bound(Id id) const { return {Base::above(id), Base::last()}; }

  Entry* find(Id id) {
    Slot* const found = Base::live_at(id);
    return found == nullptr ? nullptr : &found->entry();
  }
  const Entry* find(Id id) const {
    const Slot* const found = Base::live_at(id);
    return found == nullptr ? nullptr : &found->entry();
  }
  /// Null: the id is in it already.
  Entry* insert(Id id, std::unique_ptr<Entry> entry) {
    if (Base::contains(id)) return nullptr;
    return &Base::add(Slot(id, std::move(entry))).entry();
  }
  /// False: it was not in it.
  bool erase(Id id) {
    Slot* const found = Base::live_at(id);
    if (found == nullptr) return false;
    Base::take_out(*found);
    return true;
  }
};

}  // namespace rota::master::core
