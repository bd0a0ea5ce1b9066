// The names of this process's session, and of sessions of its earlier lives that have not ended yet. With
// this file, a successor ends the session of a process that is proven dead, so that its ephemeral nodes
// vanish within milliseconds instead of after the session timeout. ZooKeeper would end the session of a
// living holder just as easily; that is why a proof is required.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/zk/client.h"

namespace rota::zk {

struct SessionRecord {
  std::string cluster_uuid;       ///< empty when it was not known yet
  std::string addresses;          ///< of the ZooKeeper servers
  Credentials credentials;
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot_id;
  std::string pid_namespace;      ///< a pid is valid only in its namespace
};

/// What the caller knows. Identity: nothing; then pid, start time and boot id must prove the death, and
/// the pid namespace must be the caller's own. Caller: it reaped that process itself, or holds the
/// exclusive lock of its work folder, which the kernel frees only at death.
enum class DeathProof { Identity, Caller };

/// Whether the process of this record is proven dead by its identity. A zombie counts as living.
bool is_proven_dead(const SessionRecord& record);

/// A record of this process. Internal when /proc cannot be read.
Result<SessionRecord> record_of_this_process();

/// Reads the file's records. NotFound, Corrupt.
Result<std::vector<SessionRecord>> read_session_file(const std::string& path);

/// Attaches to the session and closes it until ZooKeeper answers "expired": that is the proof.
/// Unavailable: ZooKeeper did not answer in time. Calling again is harmless.
Result<void> end_session(const SessionRecord& record, const ClientFactory& factory, Millis at_most);

/// Ends every session in the file whose process is dead, and removes it from the file (and the file
/// when none is left). Returns how many were ended; 0 when there is no file. Conflict: a process is
/// alive, and its session was not touched; Unavailable: ZooKeeper did not answer. Used by
/// `rota-master --end-session` and by a worker's new life.
Result<int> end_dead_session(const std::string& path, DeathProof proof,
                             const ClientFactory& factory, Millis at_most);

/// The file as Session writes it: mode 0600, by rename (also on a full disk, see SparedFile), before the
/// session's first ephemeral node. Records of earlier processes stay until their sessions are ended.
/// Thread: any.
class SessionFile {
 public:
  /// Empty path: every call does nothing.
  explicit SessionFile(std::string path);
  /// Names the present session; an earlier session of this process has expired and is dropped.
  Result<void> write_present(const Credentials& credentials, const std::string& addresses,
                             const std::string& cluster_uuid);
  /// After a clean close: drops the present session; removes the file when nothing else is in it.
  void forget_present();
  /// Ends the sessions of earlier lives; returns how many. Errors as for end_dead_session.
  Result<int> end_earlier(DeathProof proof, const ClientFactory& factory, Millis at_most);

 private:
  Result<void> write_locked() const;

  const std::string path_;
  mutable std::mutex mutex_;
  std::vector<SessionRecord> earlier_;
  std::vector<SessionRecord> present_;  ///< none or one
};

}  // namespace rota::zk
