#include "master/log_store_watch.h"

namespace rota::master {

namespace {
constexpr Millis kRemembered{60'000};
}  // namespace

std::string LogStoreWatch::trouble() const {
  std::scoped_lock lock(mutex_);
  if (why_.empty() || clock_.mono() - failed_ > kRemembered) return {};
  return "takes no output, which waits at the workers: " + why_;
}

Result<std::vector<std::int64_t>> LogStoreWatch::append(const std::vector<store::LogChunk>& chunks) {
  auto ends = store_->append(chunks);
  // What a worker has damaged says nothing of the store.
  if (!ends && ends.error().code == ErrorCode::Corrupt) return ends;
  std::scoped_lock lock(mutex_);
  why_ = ends ? std::string() : ends.error().message;
  failed_ = clock_.mono();
  return ends;
}

}  // namespace rota::master
