// P13: what is stored of an attempt's output is what its outcome names, unless retention wrote down that it
// deleted it. Read from where output is kept; of the newest attempts the content too.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// An attempt of a final run whose output is to be looked at.
struct LogCandidate {
  model::AttemptKey attempt;
  std::int64_t stdout_bytes = 0;
  std::int64_t stderr_bytes = 0;
  bool lengths_known = true;  ///< false: the worker was lost, so more may be stored
};

/// Thread: one. All references outlive it.
class LogCheck {
 public:
  LogCheck(const Sources& sources, Check& logs) : sources_(sources), logs_(logs) {}

  /// Of a page of runs, in their order. The reader's errors.
  Result<void> look_at(const std::vector<LogCandidate>& candidates);
  /// Reads the content of the newest streams that were whole, up to a bound of bytes, or to the deadline.
  Result<void> look_at_content(MonoTime deadline);

 private:
  using StreamKey = std::pair<model::AttemptKey, store::LogStream>;
  struct Whole {
    StreamKey key;
    std::int64_t bytes = 0;
  };
  using Missing = std::vector<std::pair<RunId, std::string>>;

  Result<std::map<StreamKey, store::StoredStream>> stored_of(const std::vector<LogCandidate>& candidates);
  void look_at_stream(const LogCandidate& candidate, const store::StoredStream& stored, Missing& missing);
  Result<void> judge_missing(const Missing& missing);
  Result<bool> has_gone(RunId run);
  Result<std::int64_t> look_at_bytes(const Whole& whole);
  void keep(const StreamKey& key, std::int64_t bytes);

  const Sources& sources_;
  Check& logs_;
  std::deque<Whole> newest_;
  std::int64_t newest_bytes_ = 0;
};

}  // namespace rota::master::verify
