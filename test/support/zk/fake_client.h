// One session with a FakeServer.
#pragma once

#include "test/support/zk/fake_server.h"

namespace rota::zk {

class FakeClient final : public Client {
 public:
  /// `handle`: the server's number of it.
  FakeClient(FakeServer& server, Credentials credentials, Millis timeout, int handle)
      : server_(server), credentials_(std::move(credentials)), timeout_(timeout), handle_(handle) {}
  ~FakeClient() override { close(); }

  Result<std::string> create(const std::string& path, const std::string& data,
                             CreateMode mode) override;
  Result<void> remove(const std::string& path, std::int32_t version) override;
  Result<Node> get(const std::string& path, Watch watch) override;
  std::vector<Result<Node>> get_many(const std::vector<std::string>& paths, Watch watch) override;
  Result<std::optional<NodeStat>> exists(const std::string& path, Watch watch) override;
  Result<NodeStat> set(const std::string& path, const std::string& data,
                       std::int32_t version) override;
  Result<std::vector<std::string>> list(const std::string& path, Watch watch) override;
  Result<void> sync(const std::string& path) override;
  SessionId session_id() const override { return credentials_.id; }
  SessionState state() const override;
  Millis session_timeout() const override { return timeout_; }
  Credentials credentials() const override { return credentials_; }
  bool close() override;
  bool abandon() override;

 private:
  FakeServer& server_;
  const Credentials credentials_;
  const Millis timeout_;
  const int handle_;
};

}  // namespace rota::zk
