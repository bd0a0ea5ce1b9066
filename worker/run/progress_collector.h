// Collects what jobs say of themselves: waits for their progress pipes on the runner's epoll, passes on what
// is new, and keeps what lasts in one small file per attempt, so that a crash of the proper between a
// job's last word and its end forgets nothing. A job that says too much is read more slowly, and waits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "common/model/worker.h"
#include "worker/run/progress_lines.h"

namespace rota::worker::run {

/// Owner: the runner. Thread: the runner's own, except forget (any).
class ProgressCollector {
 public:
  /// Hears what is new; called in handle and finish.
  using Listener = std::function<void(model::AttemptKey, const Said&)>;

  /// `epoll` outlives it; tokens at or above `first_token` are its own. `folder` is made by start().
  ProgressCollector(std::string folder, int epoll, std::uint64_t first_token, Listener listener);

  /// Reads what an earlier life kept. Without a folder nothing is kept.
  Result<void> start();
  /// What was kept of this attempt.
  std::optional<Said> kept(model::AttemptKey attempt) const;
  /// Drops what was kept of all except these.
  void forget_all_but(const std::set<model::AttemptKey>& needed);

  void watch(model::AttemptKey attempt, UniqueFd pipe);
  void handle(std::uint64_t token, MonoTime now);
  /// Reads on where a pause is over.
  void resume_due(MonoTime now);
  std::optional<MonoTime> next_due() const;

  /// All that the attempt said, once it is over.
  struct Total {
    Said said;
    std::int64_t bad_lines = 0;
    std::string first_bad;
  };
  Total finish(model::AttemptKey attempt);
  /// The outcome is stored at the leader: what was kept may go.
  void forget(model::AttemptKey attempt);

 private:
  struct Pipe {
    UniqueFd fd;
    std::uint64_t token = 0;
    bool is_watched = false;
    ProgressLines lines;
    Said total;
    std::optional<MonoTime> resume_at;
  };
  bool read_pipe(model::AttemptKey key, Pipe& pipe, std::size_t budget);
  void pass_on(model::AttemptKey key, Pipe& pipe, Said said);
  void keep(model::AttemptKey key, const Said& said);
  void watch(Pipe& pipe);
  void unwatch(Pipe& pipe);
  std::string path_of(model::AttemptKey key) const;

  const std::string folder_;
  const int epoll_;
  std::uint64_t next_token_;
  const Listener listener_;
  std::map<model::AttemptKey, Pipe> pipes_;
  std::unordered_map<std::uint64_t, model::AttemptKey> tokens_;
  std::set<std::pair<MonoTime, model::AttemptKey>> pauses_;
  bool keep_failed_ = false;  ///< the disk refused the last write; logged once
  mutable std::mutex mutex_;
  std::map<model::AttemptKey, std::optional<Said>> files_;  ///< on disk; read ones with their content
};

}  // namespace rota::worker::run
