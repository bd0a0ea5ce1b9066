// Reads a run's output for a client, waiting for new bytes when asked to. Past the loop: it asks the
// store only, so every master can do it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "common/base/result.h"
#include "common/base/time.h"
#include "job_types.h"
#include "master/store/log_store.h"
#include "master/store/reader.h"

namespace rota::master::api {

/// Thread: any. At most `most_waits` calls wait at once; others answer at once with what there is.
class LogTail {
 public:
  /// All outlive it.
  LogTail(store::Reader& reader, store::LogStore& logs, const Clock& clock, int most_waits)
      : reader_(reader), logs_(logs), clock_(clock), most_waits_(most_waits) {}

  /// One slice. It is complete when the attempt is final and all that its outcome names has been
  /// handed out; 10 s after the end, what is still missing is named instead (missing_bytes).
  /// InvalidArgument; NotFound; the store's errors.
  Result<thrift::LogSlice> read(const thrift::LogRequest& request, MonoTime deadline);

  /// Ends the waits, now and from now on.
  void stop();

 private:
  struct AttemptEnd {
    AttemptNo attempt = 0;
    bool is_final = false;
    WallTime ended{};
    std::int64_t bytes = 0;  ///< of the asked stream, by the outcome
  };

  Result<AttemptEnd> end_of(const thrift::LogRequest& request);
  Result<AttemptEnd> end_of_earlier(const thrift::LogRequest& request);
  Result<thrift::LogSlice> read_once(const thrift::LogRequest& request);
  Result<void> tell_pruned(const thrift::LogRequest& request, thrift::LogSlice& out);
  bool begin_wait();
  void end_wait();
  bool pause(Millis pause, MonoTime until);

  store::Reader& reader_;
  store::LogStore& logs_;
  const Clock& clock_;
  const int most_waits_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  int waits_ = 0;
  bool stopped_ = false;
};

}  // namespace rota::master::api
