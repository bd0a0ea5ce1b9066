// Who is in a folder of ephemeral nodes, with their data: the leader's view of the workers. Watches
// fire once and tell nothing, so each event means: list again, re-arm in the same call, compare
// sets. Nodes that no session owns are no members (see absence_rules.h).
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

/// The set believed in, and how it differs from the one told before.
struct MembershipChange {
  std::map<std::string, std::string> members;  ///< name -> data
  std::vector<std::string> appeared;
  std::vector<std::string> changed;            ///< their data
  std::vector<std::string> vanished;
  bool synced = false;  ///< the first full listing of this session: told even when nothing changed
  std::int64_t confirmed = 0;  ///< the newest confirm() that this listing began after; told once
};

/// What is wrong with the folder, for people.
struct MembershipTrouble {
  std::vector<std::string> ownerless;  ///< paths of nodes that belong to no session: counted as nobody
  std::vector<std::string> awaited;    ///< names missing since the servers lost data, and not given up yet
};

/// Owner: the Term, or whoever watches. It attaches itself to the session, and detaches when
/// destroyed. While ZooKeeper is away the last set stays believed; a new session lists anew and
/// tells the difference. Where the servers turn out to have lost data, who is missing stays believed for
/// `hold`, unless somebody else has his id. Thread: the observer is called on the session's task
/// thread.
class Membership final : private SessionObserver {
 public:
  using Observer = std::function<void(const MembershipChange&)>;
  Membership(Session& session, std::string folder, Observer observer, Millis hold = kAbsenceHold);
  ~Membership() override;

  /// Lists anew so that the set is sure to hold all that the servers had agreed on by now: a write
  /// comes first, since a follower that is cut off goes on answering reads. Told with this number,
  /// which must grow; while ZooKeeper is away it waits. Thread: any.
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
  bool must_prove_ = false;            ///< that the servers know all that was seen
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
