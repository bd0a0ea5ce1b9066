// Looks at what attempts use, where no controller of the kernel does it: proportional memory, number of
// processes and CPU time of everything that an attempt started, and the size of its work folder. An attempt
// that uses more than its job allows is reported to the runner, which ends it. Every 250 ms, sooner near a
// limit. An attempt without limits is looked at a second after its start and then every two, for people who
// want to know.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/base/time.h"
#include "common/model/worker.h"
#include "worker/run/cpu_rate.h"
#include "worker/run/folder_walk.h"
#include "worker/run/limit_rules.h"
#include "worker/warden/process_scan.h"

namespace rota::worker::run {

/// Whom to look at.
struct SampledSet {
  pid_t root = -1;            ///< as the worker's /proc counts
  bool is_root_counted = true;  ///< false: the root is a keeper, and no process of the job
  model::JobLimits limits;
  std::string folder;         ///< of its own; empty: none
};

/// Everybody at one look, indexed once for all sets.
class ProcessTree {
 public:
  explicit ProcessTree(const std::vector<warden::SeenProcess>& all);
  /// Everything below the set's root, what is in its session, and what was known before.
  std::vector<const warden::SeenProcess*> members_of(const SampledSet& set,
                                                     const std::set<warden::ProcessIdentity>& known) const;

 private:
  std::unordered_multimap<pid_t, const warden::SeenProcess*> children_, sessions_;
  std::unordered_map<pid_t, const warden::SeenProcess*> by_pid_;
};

/// Owner: the runner. Thread: any for add and remove; it has one of its own.
class SetSampler {
 public:
  /// Told on the sampler's thread, and again at later looks only when it has become wild.
  using Observer = std::function<void(model::AttemptKey, const Excess&)>;
  explicit SetSampler(Observer observer) : observer_(std::move(observer)) {}
  ~SetSampler() { stop(); }

  void start();
  void stop();
  void add(model::AttemptKey key, SampledSet set);
  void remove(model::AttemptKey key);
  /// What each of them used at the last look at it; one that was not looked at yet is not among them.
  struct Seen {
    model::AttemptKey key;
    SetUsage usage;
    MonoTime at{};
    std::optional<std::int32_t> cpu_percent;  ///< of one core, since a look some seconds before
  };
  /// Some of them, in turn.
  struct Part {
    std::vector<Seen> seen;
    model::AttemptKey through;   ///< the last; the next part begins behind it
    bool has_all = true;
  };
  /// At most so many behind that key, and then from the first on.
  Part seen_after(model::AttemptKey key, std::size_t most) const;

 private:
  struct Watched {
    SampledSet set;
    std::set<warden::ProcessIdentity> known;  ///< members at the last look
    MonoTime next_look{};
    std::optional<MonoTime> looked;  ///< at `usage`
    SetUsage usage;
    CpuRate rate;
    MonoTime next_folder_look{};
    std::shared_ptr<FolderWalk> walk;  ///< a pass over the folder that is under way; the sampler's thread
    int looks_over = 0;       ///< looks in a row that saw a limit passed
    bool is_told = false, is_told_wild = false;
  };
  void run(std::stop_token stop);
  void look(MonoTime now);
  void wait_for_next(const std::stop_token& stop);
  static SetUsage measure(Watched& one, const ProcessTree& tree);
  static std::int64_t measure_folder(Watched& one);

  const Observer observer_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_urgent_ = false;  ///< one was added that is to be looked at before the next look was due
  std::map<model::AttemptKey, Watched> watched_;
  std::jthread thread_;
};

}  // namespace rota::worker::run
