// The outcomes that the leader has not acknowledged yet, in one append-only file: an outcome counts as
// finished only after it is synced here, and is kept until the leader's acknowledgement.
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

  /// Writes and syncs all of them in one go. After an error nothing of it counts; calling again is
  /// harmless. Unavailable: the disk refuses.
  Result<void> append(const std::vector<model::AttemptReport>& reports);
  /// Forgets these. Written without a sync: repeating a report is harmless.
  Result<void> acknowledge(const std::vector<model::AttemptKey>& keys);

  const std::map<model::AttemptKey, model::AttemptReport>& unreported() const { return live_; }
  std::int64_t live_bytes() const { return live_bytes_; }
  std::int64_t file_bytes() const { return end_; }
  /// Passed over in open(): records that are not what their check sums say.
  std::size_t damaged_bytes() const { return damaged_bytes_; }
  /// Cut off in open(): a record that was not wholly written, so that it never counted.
  std::size_t torn_bytes() const { return torn_bytes_; }
  /// How often outcomes were synced, for tests.
  std::int64_t syncs() const { return syncs_; }
  /// What may be written though the disk is full.
  std::int64_t reserved_bytes() const { return zeroed_ - end_; }

 private:
  Outbox(std::string path, UniqueFd file, std::int64_t reserve_bytes)
      : path_(std::move(path)), reserve_bytes_(reserve_bytes), file_(std::move(file)) {}
  Result<void> load();
  Result<void> write_at_end(const std::string& bytes, bool sync);
  void reserve();
  std::string spare_path() const { return path_ + ".spare"; }
  Result<void> compact();
  bool should_compact() const;

  const std::string path_;
  const std::int64_t reserve_bytes_;
  UniqueFd file_;
  std::int64_t syncs_ = 0;
  std::map<model::AttemptKey, model::AttemptReport> live_;
  std::map<model::AttemptKey, std::int64_t> sizes_;
  std::int64_t live_bytes_ = 0;
  std::int64_t end_ = 0;           ///< where the next record goes
  std::int64_t zeroed_ = 0;        ///< the file is filled with zeros up to here
  std::size_t damaged_bytes_ = 0;
  std::size_t torn_bytes_ = 0;
};

}  // namespace rota::worker::report
