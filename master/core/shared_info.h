// What a worker says of itself, shared by all who only read it: every snapshot names every worker, and there
// may be thousands of both.
#pragma once

#include <memory>
#include <utility>

#include "common/model/worker.h"

namespace rota::master::core {

/// Immutable while it is shared. Thread: any may read; change() by who holds this one alone.
class SharedInfo {
 public:
  SharedInfo() : info_(nothing()) {}
  SharedInfo(model::WorkerInfo info)
      : info_(std::make_shared<const model::WorkerInfo>(std::move(info))) {}

  const model::WorkerInfo& operator*() const { return *info_; }
  const model::WorkerInfo* operator->() const { return info_.get(); }
  bool is_same_as(const SharedInfo& other) const { return info_ == other.info_; }

  /// A copy of its own, to be changed before anybody else sees it.
  model::WorkerInfo& change() {
    auto own = std::make_shared<model::WorkerInfo>(*info_);
    info_ = own;
    return *own;
  }

 private:
  static const std::shared_ptr<const model::WorkerInfo>& nothing() {
    static const auto kNothing = std::make_shared<const model::WorkerInfo>();
    return kNothing;
  }

  std::shared_ptr<const model::WorkerInfo> info_;
};

}  // namespace rota::master::core
