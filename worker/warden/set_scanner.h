// Which processes belong to which attempt, where no namespace says so. The warden is a subreaper, so
// every process of every attempt descends from it forever: nobody else is ever looked at or
// signalled. Among its descendants a process belongs to an attempt when it was seen to before, is in
// its session, carries its marker, descends from one of its processes, or holds one of its pipes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "worker/warden/process_scan.h"

namespace rota::worker::warden {

/// Thread: the warden's one.
class SetScanner {
 public:
  struct Target {
    ProcessIdentity main;
    std::string mark;
    std::vector<std::uint64_t> pipes;  ///< inodes
    bool is_ending = false;            ///< its main process has ended; what is left is to be killed
  };
  struct Found {
    std::map<std::uint64_t, std::vector<ProcessIdentity>> members;  ///< by serial
    /// Attempts that a process of unknown origin might belong to: they cannot be proven empty.
    std::set<std::uint64_t> in_doubt;
  };

  void add(std::uint64_t serial, Target target) { targets_[serial] = std::move(target); }
  void set_ending(std::uint64_t serial);
  void remove(std::uint64_t serial);

  /// One pass over /proc. `warden` is the root of all sets; `proper` and its children are left out.
  Found scan(pid_t warden, pid_t proper);
  /// The same on a list that the caller has (for tests); marks and pipes are still read from /proc.
  Found attribute(const std::vector<SeenProcess>& all, pid_t warden, pid_t proper);

 private:
  std::uint64_t owner_of(const SeenProcess& process, std::uint64_t parents_owner) const;
  std::uint64_t owner_by_inspection(const SeenProcess& process) const;
  void place_stray(const SeenProcess& process, Found& found) const;

  std::map<std::uint64_t, Target> targets_;
  std::map<ProcessIdentity, std::uint64_t> known_;
};

}  // namespace rota::worker::warden
