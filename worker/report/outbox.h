// The outcomes that the leader has not acknowledged yet, in one append-only file: an outcome counts as
// finished only after it is synced here, and is kept until the leader's acknowledgement.
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
  /// Opens or makes the file and reads what an earlier life left. Damage is passed over and counted.
  static Result<std::unique_ptr<Outbox>> open(const std::string& path);

  /// Writes and syncs all of them in one go. After an error nothing of it counts; calling again is
  /// harmless. Unavailable: the disk refuses.
  Result<void> append(const std::vector<model::AttemptReport>& reports);
  /// Forgets these. Written without a sync: repeating a report is harmless.
  Result<void> acknowledge(const std::vector<model::AttemptKey>& keys);

  const std::map<model::AttemptKey, model::AttemptReport>& unreported() const { return live_; }
  std::int64_t live_bytes() const { return live_bytes_; }
  std::int64_t file_bytes() const { return end_; }
  std::size_t damaged_bytes() const { return damaged_bytes_; }

 private:
  Outbox(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> load();
  Result<void> write_at_end(const std::string& bytes, bool sync);
  Result<void> compact();
  bool should_compact() const;

  const std::string path_;
  UniqueFd file_;
  std::map<model::AttemptKey, model::AttemptReport> live_;
  std::map<model::AttemptKey, std::int64_t> sizes_;
  std::int64_t live_bytes_ = 0;
  std::int64_t end_ = 0;           ///< where the next record goes
  std::int64_t zeroed_ = 0;        ///< the file is filled with zeros up to here
  std::size_t damaged_bytes_ = 0;
};

}  // namespace rota::worker::report
