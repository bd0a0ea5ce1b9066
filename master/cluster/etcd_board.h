// The lease in etcd: one key, bound to an etcd lease of the candidate's own. The key is made only where none
// is, and etcd removes it with its lease.
#pragma once

#include <cstdint>
#include <string>

#include "master/cluster/etcd_client.h"
#include "master/cluster/lease_board.h"

namespace rota::master::cluster {

/// Thread: one at a time.
class EtcdBoard final : public LeaseBoard {
 public:
  /// etcd counts leases in whole seconds, and makes very short ones longer (2 s by default).
  EtcdBoard(EtcdServers servers, std::string key, std::chrono::seconds lease);

  Result<LeaseSight> hold(const std::string& tag, const std::string& words) override;
  Result<LeaseSight> look() override;
  Result<void> release(const std::string& tag) override;

 private:
  /// The key as it stands; lease 0: there is none.
  struct Key {
    std::int64_t lease = 0;
    std::string words{};
  };
  static Key key_in(const nlohmann::json& range);
  Result<Key> read();
  Result<LeaseSight> go_on(std::int64_t lease, const Key& key, const std::string& words);
  Result<LeaseSight> make(std::int64_t lease, const std::string& words);
  Result<void> grant(std::int64_t lease);
  Result<bool> keep_alive(std::int64_t lease);
  nlohmann::json put(std::int64_t lease, const std::string& words) const;

  EtcdClient client_;
  const std::string key_;      ///< in base64, as all of the gateway's keys and values
  const std::int64_t lease_s_;
};

}  // namespace rota::master::cluster
