// etcd's HTTP gateway by libcurl: a JSON object out, a JSON object in (etcd 3.4 and later, paths under /v3).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::master::cluster {

struct EtcdServers {
  std::vector<std::string> endpoints{};  ///< like http://10.0.0.5:2379
  Millis deadline{1000};                 ///< of one call to one endpoint
};

/// Keeps its connection between calls. Owner: an EtcdBoard. Thread: one at a time.
class EtcdClient {
 public:
  explicit EtcdClient(EtcdServers servers);
  ~EtcdClient();
  EtcdClient(const EtcdClient&) = delete;
  EtcdClient& operator=(const EtcdClient&) = delete;

  /// Asks the endpoints in turn, beginning with the one that answered last. So a call may be done twice:
  /// only what is harmless when repeated goes here. NotFound and AlreadyExists are etcd's own answers.
  /// Denied: etcd wants a user. UnknownOutcome: no endpoint answered, and it may have been done.
  Result<nlohmann::json> post(const std::string& path, const nlohmann::json& body);

 private:
  struct Handle;
  Result<nlohmann::json> post_to(const std::string& endpoint, const std::string& path,
                                 const std::string& body);

  const EtcdServers servers_;
  std::size_t at_ = 0;
  const std::unique_ptr<Handle> handle_;
};

}  // namespace rota::master::cluster
