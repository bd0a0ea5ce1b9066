// The members of a folder of ephemeral nodes, with their data: the leader's view of the workers. A watch
// fires once and does not say what changed. So after each event: list again, re-arm in the same call,
// compare the sets. Nodes that no session owns are not members (see absence_rules.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/zk/absence_rules.h"
#include "common/zk/session.h"

namespace rota::zk {

/// The set that is assumed now, and how it differs from the one reported before.
struct MembershipChange {
  std::map<std::string, std::string> members;  ///< name -> data
  std::vector<std::string> appeared;
  std::vector<std::string> changed;            ///< their data
  std::vector<std::string> vanished;
  bool synced = false;  ///< the first full listing of this session: reported even when nothing changed
  std::int64_t confirmed = 0;  ///< the newest confirm() before this listing began; reported once
};

/// What is wrong with the folder, for people.
struct MembershipTrouble {
  std::vector<std::string> ownerless;  ///< paths of nodes that belong to no session: not members
  std::vector<std::string> awaited;    ///< names missing since the servers lost data; still waited for
};

/// Owner: the Term, or another user. It attaches itself to the session, and detaches when destroyed.
/// While ZooKeeper is away, the last set stays valid; a new session lists again and reports the
/// difference. When the servers have lost data, a missing member stays in the set for `hold`, unless
/// another member has its id. Thread: the observer is called on the session's task
/// thread.
class Membership final : private SessionObserver {
 public:
  using Observer = std::function<void(const MembershipChange&)>;
  Membership(Session& session, std::string folder, Observer observer, Millis hold = kAbsenceHold);
  ~Membership() override;

  /// Lists again so that the set certainly contains everything that the servers have agreed on by now: it
  /// writes first, because a cut-off follower still answers reads. The report has this number, which must
  /// grow. While ZooKeeper is away, it waits. Thread: any.
  void confirm(std::int64_t number);
  /// As of the last listing. Thread: any.
  MembershipTrouble trouble() const;

 private:
  void session_began(Client& client) override;
  void session_resumed(Client& client) override;
  void session_ended() override;
  void watch_fired(Client& client, const Event& event) override;
  void refresh(Client& client);
  bool read_listing(Client& client);
  bool read_data(Client& client);
  bool must_write() const { return asked_ != confirmed_ || must_prove_; }
  bool write_first(Client& client);
  bool made_folder(Client& client);
  void proved(const NodeStat& folder);
  bool know_folder(Client& client);
  void start_over();
  std::set<std::string> held() const;
  void note_trouble(const std::set<std::string>& held);
  void know_older();
  void tell(std::int64_t confirmed);
  void refresh_after(Millis delay);

  Session& session_;
  const std::string folder_;
  const Observer observer_;
  const Millis hold_;
  bool must_prove_ = false;            ///< that the servers know everything that was seen
  std::int64_t seen_zxid_ = 0;         ///< the highest
  std::optional<FolderMark> folder_seen_;  ///< empty: not read yet
  MonoTime hold_until_{};
  bool must_know_older_ = false;       ///< the first listing after a loss is still to come
  std::set<std::string> older_;        ///< names that came back with older data
  std::set<std::string> ownerless_;
  bool must_list_ = true;              ///< the listing is not known to be fresh and watched
  std::set<std::string> must_read_;    ///< members whose data is not
  std::set<std::string> listed_;
  std::map<std::string, std::string> read_;   ///< data as read in this session
  std::map<std::string, std::string> told_;
  MadeAt made_;                               ///< of those read and of those told
  bool synced_ = false;
  bool refresh_pending_ = false;
  std::int64_t asked_ = 0;             ///< by confirm()
  std::int64_t confirmed_ = 0;         ///< told
  mutable std::mutex trouble_mutex_;
  MembershipTrouble trouble_;
};

}  // namespace rota::zk
