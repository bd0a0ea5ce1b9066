// P43: each expectation (`expect`) of a run or a tick that is not met has exactly one row that it was told,
// and none has one that was met; recounted from runs, gaps and versions. What ended in a Term that does not
// tell (of an older version) is left out, as are runs of one-offs. A multiple of the usual length is
// recounted of jobs whose runs follow each other.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/model/expect.h"
#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class ExpectCheck {
 public:
  ExpectCheck(const Sources& sources, Check& check) : sources_(sources), check_(check) {}

  /// A version of a job whose runs come. Those that expect nothing cost nothing.
  void learn(const model::JobVersionRow& version);
  Result<void> look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier);
  /// What has no run. `gaps`: empty where they were too many to be read at once.
  Result<void> look_at_gaps(const model::Job& job, const std::vector<model::JobVersionRow>& versions,
                            const std::optional<std::vector<model::Gap>>& gaps,
                            std::optional<WallTime> since);
  /// After all runs.
  Result<void> judge();

 private:
  using Key = std::tuple<RunId, std::int64_t, model::ToldOnce>;  ///< a tick of a run counts as 0
  struct Rules {
    Millis start_within{0};
    std::string finish_by, longer_than, zone;
  };
  /// A length that seems to be told wrongly, until a run of a higher id is found to have ended before it.
  struct Suspect {
    WallTime ended{};
    bool is_sure = false;              ///< by 20 lengths; by fewer, it counts when no run was deleted
    bool is_wrong = false;             ///< told though it was met; else: not told
    std::string words;
  };
  /// What is known of a job's told rows and lengths.
  struct Known {
    bool is_read = false;
    std::map<Key, model::LateRow> told;
    std::deque<Millis> last;
    std::int64_t successes = 0;
    std::optional<WallTime> last_end;
    bool is_doubtful = false;          ///< which of its runs ended first is not known for sure
    std::vector<Suspect> suspects;
  };
  /// When its first attempt was sent, by the clock and by the attempts' numbers: clocks may be set back.
  struct Begun {
    std::optional<WallTime> earliest, first;
  };

  Result<void> read_terms();
  Result<Known*> known_of(JobId job, bool anew);
  Result<void> expect(JobId job, const Key& key, bool is_met, bool may_be_told, const std::string& words);
  Result<void> look_at_length(const model::Run& run, const Rules& rules, const Begun& begun);
  Result<void> compare_length(const model::Run& run, const Key& key, bool is_met, const std::string& words);
  std::optional<WallTime> finish_by(const Rules& rules, WallTime tick);
  static bool was_open(const Known& known, const Key& key, bool before_start);

  const Sources& sources_;
  Check& check_;
  std::optional<std::set<Epoch>> terms_;
  std::map<std::pair<JobId, JobVersion>, Rules> rules_;
  std::map<JobId, Known> known_;
  /// Not all of their versions expect the same length, or one lets several runs be under way at once.
  std::set<JobId> changing_;
  std::map<std::string, model::ZonePtr> zones_;
};

}  // namespace rota::master::verify
