#include "master/upkeep/log_store_watch.h"

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
  // What is wrong with the chunks themselves says nothing of the store.
  const ErrorCode code = ends ? ErrorCode{} : ends.error().code;
  const bool is_their_fault = code == ErrorCode::Corrupt || code == ErrorCode::Conflict ||
                              code == ErrorCode::InvalidArgument;
  if (!ends && is_their_fault) return ends;
  std::scoped_lock lock(mutex_);
  why_ = ends ? std::string() : ends.error().message;
  failed_ = clock_.mono();
  return ends;
}

}  // namespace rota::master
