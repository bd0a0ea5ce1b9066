// Definitions by content: versions of saved jobs point at rows of `definition`, so that a million jobs of a
// thousand shapes hold a thousand. Versions of one-offs say it themselves: each has a content of its own
// anyway, and goes with its last run.
//
// Masters of before read no such version. So they are written, and the rows of before changed, only once all
// registered masters can read them (need_contents); from then on older ones cannot take office, which a
// constraint of the epoch's row holds. Both forms are read at any time.
//
// Nothing deletes a definition: versions of saved jobs are kept forever, and each comes in one transaction
// with what it points at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/model/job.h"
#include "master/store/mysql/batch_text.h"

namespace rota::master::store {

/// Put behind a job_version v: what it points at.
inline constexpr std::string_view kJoinContent = "LEFT JOIN definition d ON d.hash = v.content_hash";
/// With that: the version's whole definition. NULL: what it points at is missing.
inline constexpr std::string_view kDefinitionOfVersion = "IF(v.content_hash IS NULL, v.definition, d.body)";
inline constexpr std::string_view kMissingContent = "its row of `definition` is missing";

/// An expression for rules as a leader keeps them (core::KeptRules), of the columns that have them and the
/// whole definition: before them `"handler":"NAME",`, unless that is the one that every worker knows.
std::string kept_rules(std::string_view rules, std::string_view definition);
struct KeptText {
  std::string handler;     ///< empty: the one that every worker knows
  std::string rules;
};
/// The two parts of such a text.
KeptText split_handler(const std::string& kept);
/// With kJoinContent: those of the version. NULL: what it points at is missing.
std::string rules_of_version();

/// What is stored of a definition.
struct ContentTexts {
  std::string rules;
  std::string definition;  ///< whole, or without the job's names
  std::string hash;        ///< of the latter; empty: whole
};
/// InvalidArgument when a text in it is no UTF-8.
Result<ContentTexts> whole_texts(const model::JobDefinition& definition);
Result<ContentTexts> shared_texts(model::JobDefinition definition);

/// Writes the contents among them that have a hash, each once. Before the versions that point at them.
void write_contents(BatchText& batch, const std::vector<ContentTexts>& texts);

/// By the leader of this epoch: from now on versions point at contents. Nothing when another one is in force.
Result<void> need_contents(Connection& connection, Epoch epoch);

/// Changes versions of before, a few with each step, so that a takeover waits for nothing.
/// Thread: one at a time. Errors: as Connection. What was done stands, and a repeat does no harm.
class ContentFill {
 public:
  Result<void> step(Connection& connection, Epoch epoch);
  /// For the epoch of the last step.
  bool is_over() const { return is_over_; }

 private:
  struct Old {
    std::int64_t job = 0;
    std::int64_t version = 0;
    ContentTexts texts;
  };
  Result<std::vector<Old>> read_some(Connection& connection);
  Result<void> change_some(Connection& connection, const std::vector<Old>& some);

  Epoch epoch_;
  bool is_over_ = false;
  std::int64_t after_job_ = 0;  ///< versions of jobs up to here are done
};

}  // namespace rota::master::store
