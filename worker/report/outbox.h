// The outcomes that the leader has not acknowledged yet, in one append-only file: an outcome counts as
// finished only after it is written here, and is kept until the leader's acknowledgement. What is written
// outlives this process; what is synced outlives the host. An outcome that the leader has stored before
// anybody synced it needs no sync.
//
// A full disk must not stop it: the file is filled with zeros some way ahead, so that records go where
// blocks are allocated already, and a spare file of the same kind is ready for the compaction.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "common/model/worker.h"
#include "worker/report/outbox_record.h"

namespace rota::worker::report {

/// Owner: the reporter. Thread: one at a time.
class Outbox {
 public:
  static constexpr std::int64_t kReserveBytes = 2 << 20;  ///< some 6,000 plain outcomes

  /// Opens or makes the file and reads what an earlier life left. Damage is passed over and counted.
  static Result<std::unique_ptr<Outbox>> open(const std::string& path,
                                              std::int64_t reserve_bytes = kReserveBytes);

  /// Writes all of them in one go. After an error nothing of it counts; calling again is harmless.
  /// Unavailable: the disk refuses.
  Result<void> append(const std::vector<model::AttemptReport>& reports);
  /// Something stands here that was not acknowledged, and that the host may still forget.
  bool needs_sync() const { return unsynced_ > 0; }
  /// Makes all that stands here outlive the host. After an error it is written anew, into another file, by
  /// the next call. Unavailable: the disk refuses.
  Result<void> sync();
  /// Forgets these. Written without a sync: repeating a report is harmless.
  Result<void> acknowledge(const std::vector<model::AttemptKey>& keys);

  const std::map<model::AttemptKey, model::AttemptReport>& unreported() const { return live_; }
  std::int64_t live_bytes() const { return live_bytes_; }
  std::int64_t file_bytes() const { return end_; }
  /// Passed over in open(): records that are not what their check sums say.
  std::size_t damaged_bytes() const { return damaged_bytes_; }
  /// Cut off in open(): a record that was not wholly written, so that it never counted.
  std::size_t torn_bytes() const { return torn_bytes_; }
  /// How often outcomes were synced, for status and tests.
  std::int64_t syncs() const { return syncs_; }
  /// What may be written though the disk is full.
  std::int64_t reserved_bytes() const { return zeroed_ - end_; }

 private:
  Outbox(std::string path, UniqueFd file, std::int64_t reserve_bytes)
      : path_(std::move(path)), reserve_bytes_(reserve_bytes), file_(std::move(file)) {}
  Result<void> load();
  struct Kept {
    std::int64_t bytes = 0;
    std::int64_t written_before = 0;  ///< the sync with this number, or a later one
  };
  Result<void> write_at_end(const std::string& bytes);
  void note_synced();
  void reserve();
  std::string spare_path() const { return path_ + ".spare"; }
  Result<void> compact();
  bool should_compact() const;

  const std::string path_;
  const std::int64_t reserve_bytes_;
  UniqueFd file_;
  std::map<model::AttemptKey, model::AttemptReport> live_;
  std::map<model::AttemptKey, Kept> kept_;  ///< of each of live_
  std::int64_t live_bytes_ = 0;
  std::int64_t end_ = 0;           ///< where the next record goes
  std::int64_t zeroed_ = 0;        ///< the file is filled with zeros up to here
  std::int64_t syncs_ = 0;
  std::size_t unsynced_ = 0;       ///< of kept_
  bool must_write_anew_ = false;   ///< a sync failed: nobody knows what of the file is on the disk
  std::size_t damaged_bytes_ = 0;
  std::size_t torn_bytes_ = 0;
};

}  // namespace rota::worker::report
