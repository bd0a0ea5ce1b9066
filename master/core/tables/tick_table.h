// How far ticks are recorded, and how much of that is in a batch; what holds ticks; the newest gaps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "common/base/time.h"
#include "common/model/run.h"
#include "master/core/time/watermark.h"

namespace rota::master::core {

inline constexpr std::size_t kGapsShown = 20;

/// Thread: the Scheduler's.
class TickTable {
 public:
  explicit TickTable(bool all_know_slices) : all_know_slices_(all_know_slices) {}

  /// Where the Term before stopped; without one, now.
  void begin(const std::optional<Watermark>& stored, Now now) {
    watermark_ = stored.value_or(Watermark(now.wall));
    if (stored) in_batch_ = *stored;
    written_ = now.mono;
  }

  // --- the watermark: every tick up to it is in a batch
  const Watermark& watermark() const { return watermark_; }
  /// Every job is recorded so far.
  void record_all(WallTime end) { watermark_ = std::max(watermark_, Watermark(end)); }
  void begin_slice(WallTime through, WallTime end) {
    watermark_ = Watermark(std::max(watermark_.through, through), end, JobId{});
  }
  void pass_job(JobId job) { watermark_.job = job; }
  void end_slice() { watermark_ = Watermark(watermark_.reaching); }

  bool is_ahead_of_batch() const { return watermark_ > in_batch_; }
  /// When one was last put into a batch, or found to be there.
  MonoTime written() const { return written_; }
  void set_written(MonoTime now) { written_ = now; }
  /// It goes with this batch.
  const Watermark& put_in_batch(MonoTime now) {
    in_batch_ = watermark_;
    written_ = now;
    return watermark_;
  }

  // --- what holds them
  /// Why ticks are held; empty: they fire.
  const std::string& hold() const { return hold_; }
  bool are_held() const { return !hold_.empty(); }
  void set_hold(std::string why) { hold_ = std::move(why); }
  /// See MastersSeen.
  bool all_know_slices() const { return all_know_slices_; }
  /// See LateRowsKnown.
  bool may_store_late_rows() const { return may_store_late_rows_; }
  void set_may_store_late_rows(bool may) { may_store_late_rows_ = may; }
  void set_all_know_slices(bool all) { all_know_slices_ = all; }

  // --- gaps of this Term
  const std::deque<model::Gap>& newest_gaps() const { return newest_gaps_; }
  void note_gap(const model::Gap& gap) {
    newest_gaps_.push_back(gap);
    if (newest_gaps_.size() > kGapsShown) newest_gaps_.pop_front();
  }
  /// The newest one has grown.
  void note_longer_gap(const model::Gap& gap) { newest_gaps_.back() = gap; }

 private:
  Watermark watermark_;
  Watermark in_batch_;
  MonoTime written_{};
  std::string hold_;
  bool all_know_slices_;
  bool may_store_late_rows_ = true;
  std::deque<model::Gap> newest_gaps_;
};

}  // namespace rota::master::core
