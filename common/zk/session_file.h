// The names of the sessions that this process, and those of its dead lives that are not ended yet,
// hold. With it a successor ends the session of a process that is proven dead, so that its
// ephemeral nodes go within milliseconds instead of after the session timeout. ZooKeeper would end
// the session of a living holder just as readily; therefore the proof.
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
  std::string pid_namespace;      ///< a pid means something only in its namespace
};

/// What the caller knows. Identity: nothing; then pid, start time and boot id must be gone, and the
/// pid namespace must be the caller's own. Caller: it reaped that process itself, or holds the
/// exclusive lock of its work folder, which the kernel frees only at death.
enum class DeathProof { Identity, Caller };

/// Whether the process of this record is proven dead by its identity. A zombie counts as living.
bool is_proven_dead(const SessionRecord& record);

/// A record of this very process. Internal when /proc does not tell.
Result<SessionRecord> record_of_this_process();

/// Reads the file's records. NotFound, Corrupt.
Result<std::vector<SessionRecord>> read_session_file(const std::string& path);

/// Attaches to the session and closes it, until attaching is answered "expired": that is the proof.
/// Unavailable: ZooKeeper did not answer in time. Calling again is harmless.
Result<void> end_session(const SessionRecord& record, const ClientFactory& factory, Millis at_most);

/// Ends every session in the file whose process is dead, and takes it out of the file (removes the
/// file when none is left). How many were ended; 0 when there is no file. Conflict: a process
/// lives, and nothing of it was touched; Unavailable: ZooKeeper did not answer. This is
/// `rota-master --end-session` and a worker's new life.
Result<int> end_dead_session(const std::string& path, DeathProof proof,
                             const ClientFactory& factory, Millis at_most);

/// The file as the session keeper writes it: mode 0600, by rename (on a full disk too, see SparedFile),
/// before the session's first ephemeral node. Records of earlier processes stay until they are ended.
/// Thread: any.
class SessionFile {
 public:
  /// Empty path: every call does nothing.
  explicit SessionFile(std::string path);
  /// Names the present session; one of this process named before has expired, and is forgotten.
  Result<void> write_present(const Credentials& credentials, const std::string& addresses,
                             const std::string& cluster_uuid);
  /// After a clean close: forgets the present session; removes the file when nothing else is in it.
  void forget_present();
  /// Ends the sessions of earlier lives; how many. Errors as end_dead_session.
  Result<int> end_earlier(DeathProof proof, const ClientFactory& factory, Millis at_most);

 private:
  Result<void> write_locked() const;

  const std::string path_;
  mutable std::mutex mutex_;
  std::vector<SessionRecord> earlier_;
  std::vector<SessionRecord> present_;  ///< none or one
};

}  // namespace rota::zk
