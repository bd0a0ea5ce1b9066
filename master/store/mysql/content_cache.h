// What contents (contents.h) say, read ahead by a master that stands by: a takeover then reads only those
// that are new. A row of `definition` never changes and is named by the hash of its text, so what was read
// once is true for good.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "master/core/kept_rules.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Reads rules that are stored as text. Where texts differ in their schedule alone, as most do, that alone
/// is read. Thread: one at a time.
class RulesReader {
 public:
  /// As kept_rules() of contents.h gives them.
  Result<core::KeptRules> read(const std::string& text);

 private:
  Result<model::JobRules> read_rules(const std::string& json);

  std::unordered_map<std::string, model::JobRules> rest_;  ///< by the text without the schedule
};

/// Thread: one at a time.
class ContentCache {
 public:
  using Rules = core::RulesPtr;

  /// Reads some contents, a few ms; true: more are to be read at once. Does nothing for a while when all are
  /// there and no others came, as far as the server's own count of rows tells.
  Result<bool> read_some(Connection& connection, MonoTime now);
  /// Nothing: not known.
  Rules find(const std::string& hash) const;
  std::size_t size() const { return known_.size(); }

 private:
  Result<void> look_for_news(Connection& connection, MonoTime now);

  std::unordered_map<std::string, Rules> known_;
  RulesReader reader_;
  std::string after_;                  ///< of this pass: the hash up to which contents were read
  bool in_pass_ = false;
  std::int64_t rows_ = -1;             ///< that the server counted when the last pass began
  MonoTime look_at_{};                 ///< when to ask again whether there are others
};

}  // namespace rota::master::store
