#include "worker/run/handler_call.h"

#include <unistd.h>

#include <cerrno>
#include <exception>
#include <string>

#include "worker/run/progress_lines.h"

namespace rota::worker::run {

Result<void> call_handler(sdk::Handler& handler, sdk::Context& context) {
  try {
    return handler.run(context);
  } catch (const std::exception& trouble) {
    return fail(ErrorCode::Internal, std::string("the handler threw: ") + trouble.what());
  } catch (...) {
    return fail(ErrorCode::Internal, "the handler threw something that is no std::exception");
  }
}

Result<void> check_value(const char* what, std::size_t bytes) {
  if (bytes <= kMaxValueBytes) return {};
  return fail(ErrorCode::InvalidArgument, std::string(what) + " has at most 65536 bytes, this one " +
                                              std::to_string(bytes));
}

Result<std::unique_ptr<sdk::HeldLock>> acquire_lock(sdk::LockService* locks, sdk::Context& context,
                                                 const std::string& name, Millis at_most) {
  if (locks == nullptr) {
    return fail(ErrorCode::Unsupported, "the lock '" + name + "': this worker knows no ZooKeeper for locks");
  }
  const sdk::RunFacts& facts = context.facts();
  const std::string owner = "run " + std::to_string(facts.run) + ", attempt " +
                            std::to_string(facts.attempt) + ", of " + facts.job_name + " on " + facts.worker;
  return locks->take(name, owner, at_most, [&](Millis pause) { return context.wait_cancelled(pause); });
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace rota::worker::run
