// The election over ZooKeeper: an ephemeral sequential node per candidate, each watching only its
// predecessor and itself, and looking again now and then. Decisions are in election_rules.h; the lost
// answers in protected_create.h.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/zk/paths.h"
#include "common/zk/session.h"
#include "master/cluster/election_rules.h"
#include "master/cluster/elector.h"

namespace rota::master::cluster {

/// Owner: Master, with the session, which must outlive it; the observer too. When it dies, its node
/// is left to the session. Thread: any.
class ZkElector final : public Elector, private zk::SessionObserver {
 public:
  /// `is_post`: its node only says who leads (posted_elector.h); its log does not speak of an election.
  ZkElector(zk::Session& session, zk::Paths paths, std::string master_id, ElectorObserver& observer,
            bool is_post = false);
  ~ZkElector() override;

  void campaign() override;
  void resign() override;
  void publish(const LeaderHint& hint) override;
  void withdraw_hint() override;
  bool is_first() const override { return first_.load(); }
  Candidacy candidacy() const override;
  Result<LeaderHint> leader() const override { return lookup_.find(); }
  std::vector<std::string> ownerless() const override;
  void stop() override { session_.detach(*this); }

 private:
  void session_began(zk::Client& client) override;
  void session_resumed(zk::Client& client) override;
  void session_ended() override;
  void watch_fired(zk::Client& client, const zk::Event& event) override;

  void change(std::function<void()> what);
  void step(zk::Client& client);
  Result<void> stand(zk::Client& client);
  Result<void> leave(zk::Client& client);
  Result<void> remove_ghosts(zk::Client& client);
  Result<void> join(zk::Client& client);
  Result<bool> look(zk::Client& client);
  Result<std::vector<zk::Candidate>> read_candidates(zk::Client& client);
  Result<void> clear_up(zk::Client& client, const ElectionDecision& decision);
  Result<bool> still_ours(zk::Client& client);
  Result<void> write_data(zk::Client& client);
  void win();
  void lose(std::string_view why);
  void lose_candidacy(std::string_view why);
  void forget_candidacy();
  void tell_candidacy(const Result<void>& step);
  void retry_later();
  void look_again_later();
  std::string wanted_data() const;
  static std::string prefix();
  std::string path_of(const std::string& name) const { return paths_.election() + "/" + name; }

  zk::Session& session_;
  const zk::Paths paths_;
  const std::string master_id_;
  const bool is_post_;
  ElectorObserver& observer_;
  mutable zk::LeaderLookup lookup_;
  std::atomic<bool> first_ = false;
  mutable std::mutex mutex_;
  Candidacy candidacy_;       ///< as last told
  std::vector<std::string> ownerless_;
  // task thread only
  bool eligible_ = false;
  std::optional<LeaderHint> hint_;
  std::string tag_;           ///< of the candidacy under way; empty: none
  std::string own_;           ///< our node's name; empty: none, or not known yet
  std::string written_;       ///< data that stands in our node
  std::string predecessor_;
  bool may_have_ghosts_ = false;  ///< servers that came back may have older data
  bool retry_pending_ = false;
  bool look_pending_ = false;
};

}  // namespace rota::master::cluster
