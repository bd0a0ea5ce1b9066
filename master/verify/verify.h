// Holds the stored history against the promises, from the rows alone: which ticks were planned is
// enumerated here from the job versions, by code that shares nothing with the leader's path but the
// cron parser and its next-match function. Any master can do it, at any time.
//
//   P1   every planned tick up to the watermark is one run or lies in one gap row; nothing else is;
//        gap rows count what they hide; the watermark is not ahead of what is recorded; a job that its
//        rules end (`firings`, `until`, `pause_after_failures`) fires no more, and is not ended before
//   P4   no two attempts of one run overlap, nor more of one job than its concurrency says, unless its
//        overlap is "allow"
//   P5   a lost attempt is followed by another only as its job's loss policy allows, and only so often
//   P6   nothing started before it was recorded and dispatched
//   P7   in the order of run ids epochs never fall; nothing of an older epoch is recorded after the
//        first row of a newer one
//   P10  every run that has not ended stands where the next leader looks for it
//   P12  every final run has an outcome
//   P38  each start of a worker makes one run of each job with @worker_start, on that worker
//   P39  no attempt begins when its run's time, or the wait for the first one, is over
//   P40  no attempt follows an end that its job's retry rule does not try again
//   P41  no more tokens of a semaphore are held at once than it has
//   P42  no more runs of a pool or a namespace are under way at once than its limit allows
//   P43  what a job expects of a run or tick is told once when it is not met, and only then
//   P45  no attempt is sent to a worker while a stored hold keeps all attempts from it
//   P46  the versions of each setting have no hole, later ones have higher numbers, their values are
//        allowed, and the newest is in force on the leader, if that verifies
//   P47  a pool's wanted number of workers is within its limits, told to its hook, and no worker is named as
//        one that may be stopped while an attempt is unfinished there
//   P48  what attempts on one life of a worker take is never more than its slots and what it offers
//   P49  the end of a run begins each child job that its version names for it once, or says why not
//   P44  a run that failed or was lost is told to who wants to hear it, and nothing is told of any other
//   P13  what is stored of a log is what the outcome names, unless retention wrote down that it deleted it
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "master/store/log_store.h"
#include "master/store/reader.h"
#include "master/store/zone_source.h"

namespace rota::master::verify {

struct Request {
  std::string space = "default";
  std::string job;                    ///< by name; empty: all, of every namespace
  std::optional<WallTime> since;      ///< ticks and runs scheduled before it are not looked at
  std::optional<WallTime> now;        ///< the asker's clock; unset: what needs it is not looked at
  std::string from;                   ///< where an earlier verification stopped; empty: the beginning
};

/// One promise and what was found.
struct Check {
  Check() = default;
  explicit Check(std::string name) : promise(std::move(name)) {}

  std::string promise;                ///< "P1"
  bool ok = true;
  std::int64_t planned = 0;           ///< P1: ticks; the others: rows that were looked at
  std::int64_t fired = 0;
  std::int64_t skipped = 0;
  std::int64_t missing = 0;
  std::int64_t doubled = 0;           ///< or unplanned, or otherwise wrong
  std::vector<std::string> examples;  ///< at most 5
};

struct Report {
  bool ok = true;
  bool is_complete = true;            ///< false: the deadline passed; the rest begins at `next`
  std::string next;                   ///< for Request.from
  std::int64_t jobs_looked_at = 0;    ///< by their ticks, in this call
  std::int64_t jobs_in_all = 0;       ///< 0: not known
  std::int64_t runs_looked_at = 0;
  std::optional<WallTime> runs_through;  ///< when the last run that was looked at was recorded
  WallTime decided_through{};         ///< the watermark
  Millis max_lateness{0};             ///< recorded - tick, of the ticks that fired
  /// P1, P4, P5, P6, P7, P10, P12, P13, P38, P39, P40, P41, P42, P43, P44, P45, P46, P47, P49, P48
  std::vector<Check> checks;
};

/// What it looks at; all outlive the call.
struct Sources {
  store::Reader& reader;
  store::LogStore* logs = nullptr;    ///< null: P13 is not looked at
  store::ZoneSource zones;
  /// The versions of settings that are in force on this master, when it leads. Empty: it does not.
  std::function<std::vector<model::SettingRow>()> settings = {};
};

/// Memory is bounded by pages of rows, the gap rows of one job and a few attempts of each job. When
/// `deadline` passes it tells what it has seen and where to go on. TimedOut when it got nowhere,
/// InvalidArgument for a place that is none, or the reader's error: then nothing is claimed.
Result<Report> verify(const Sources& sources, const Request& request, MonoTime deadline);

}  // namespace rota::master::verify
