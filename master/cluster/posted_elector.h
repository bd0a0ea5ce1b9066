// A lease's elector whose leader also posts in ZooKeeper that it leads: clients look there
// (zk::find_leader), and so does a master that cannot reach the elector's servers. A candidate's node carries
// the post; nobody is elected by it, because masters whose elector is not in force do not stand.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "master/cluster/lease_elector.h"
#include "master/cluster/zk_elector.h"

namespace rota::master::cluster {

/// Owner: Master, with the session, which outlives it. Thread: any.
class PostedElector final : public Elector {
 public:
  PostedElector(std::unique_ptr<LeaseElector> elector, zk::Session& session, const zk::Paths& paths,
                const std::string& master_id)
      : post_(session, paths, master_id, nobody_, true), elector_(std::move(elector)) {}

  void campaign() override { elector_->campaign(); }
  void resign() override { elector_->resign(); }
  void publish(const LeaderHint& hint) override {
    elector_->publish(hint);
    post_.publish(hint);
    post_.campaign();
  }
  void withdraw_hint() override {
    elector_->withdraw_hint();
    post_.withdraw_hint();
    post_.resign();
  }
  bool is_first() const override { return elector_->is_first(); }
  Candidacy candidacy() const override { return elector_->candidacy(); }
  Result<LeaderHint> leader() const override {
    auto found = elector_->leader();
    return found ? found : post_.leader();
  }
  std::vector<std::string> ownerless() const override { return post_.ownerless(); }
  void stop() override {
    elector_->stop();
    post_.stop();
  }

 private:
  /// Whom the post's place among ZooKeeper's candidates would concern.
  struct Nobody final : ElectorObserver {
    void elected() override {}
    void lost(std::string_view) override {}
  };

  Nobody nobody_;
  ZkElector post_;
  const std::unique_ptr<LeaseElector> elector_;
};

}  // namespace rota::master::cluster
