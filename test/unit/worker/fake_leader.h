// A leader's ReportService on a loopback port, whose answers the test gives.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ReportService.h"
#include "common/base/check.h"
#include "common/rpc/server.h"
#include "test/support/patience.h"
#include "worker/desk/leader_address.h"

namespace rota::testing {

/// Set before start(), each called on a thread of the server.
struct LeaderAnswers {
  std::function<std::vector<thrift::AttemptKey>(const thrift::ReportRequest&)> report{};
  std::function<void()> renew{};
  std::function<std::vector<std::int64_t>(const std::vector<thrift::LogChunk>&)> append_log{};
  std::function<void(const thrift::RenewRequest&)> renewal{};
};

class FakeLeader final : public thrift::ReportServiceNull {
 public:
  explicit FakeLeader(LeaderAnswers answers) : answers_(std::move(answers)) {
    rpc::ServerOptions options;
    options.threads = 2;
    server_ = std::make_unique<rpc::Server>(
        std::make_shared<thrift::ReportServiceProcessor>(
            std::shared_ptr<thrift::ReportServiceIf>(this, [](auto*) {})),
        options);
    CHECK_OR_DIE(server_->start().has_value(), "the fake leader listens");
    leader_.set({Epoch{1}, {"127.0.0.1", server_->port()}, Millis{5000}});
  }
  ~FakeLeader() override { server_->stop(); }

  const worker::desk::LeaderAddress& address() const { return leader_; }

  void report(std::vector<thrift::AttemptKey>& stored, const thrift::ReportRequest& request) override {
    if (answers_.report) stored = answers_.report(request);
  }
  void append_log(std::vector<std::int64_t>& ends, const std::vector<thrift::LogChunk>& chunks) override {
    if (answers_.append_log) ends = answers_.append_log(chunks);
  }
  void renew(const thrift::RenewRequest& request) override {
    if (answers_.renewal) answers_.renewal(request);
    if (answers_.renew) answers_.renew();
  }

 private:
  const LeaderAnswers answers_;
  worker::desk::LeaderAddress leader_;
  std::unique_ptr<rpc::Server> server_;
};

/// A value that one thread changes and another waits for.
template <typename T>
class Shared {
 public:
  template <typename Change>
  void change(Change change) {
    {
      const std::scoped_lock lock(mutex_);
      change(value_);
    }
    changed_.notify_all();
  }
  template <typename Is>
  bool becomes(Is is) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return is(value_); });
  }
  T get() {
    const std::scoped_lock lock(mutex_);
    return value_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  T value_{};
};

}  // namespace rota::testing
