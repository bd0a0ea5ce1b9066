// A master as a worker sees one: it says hello and dispatches through real RPC, and serves
// ReportService from memory. What it stores can be waited for and asked for.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ReportService.h"
#include "WorkerService.h"
#include "common/model/worker.h"
#include "common/rpc/channel.h"
#include "common/rpc/server.h"
#include "test/support/patience.h"

namespace rota::testing {

class FakeMaster final : public thrift::ReportServiceIf {
 public:
  FakeMaster();
  ~FakeMaster() override;

  // --- ReportService ---
  void report(std::vector<thrift::AttemptKey>& stored, const thrift::ReportRequest& request) override;
  void append_log(std::vector<std::int64_t>& ends,
                  const std::vector<thrift::LogChunk>& chunks) override;
  void renew(const thrift::RenewRequest& request) override;

  // --- the test ---
  std::string address() const;
  /// Reports and chunks are refused while it is deaf.
  void set_deaf(bool deaf);
  void set_vouching(bool vouching);

  /// Waits for the outcome of a run's attempt; an empty state after the timeout.
  thrift::Outcome outcome(std::int64_t run, Millis at_most = kPatience, int attempt = 1);
  bool has_outcome(std::int64_t run, int attempt = 1);
  bool wait_started(std::int64_t run, Millis at_most = kPatience);
  /// What the run's attempts said of themselves, once the checkpoint is this one.
  struct Told {
    int count = 0;                     ///< reports that carried something
    int percent = -1;
    std::string checkpoint;
  };
  Told wait_checkpoint(std::int64_t run, const std::string& checkpoint,
                       Millis at_most = kPatience);
  /// What is kept of the stream, once it is as long as that.
  std::string log(std::int64_t run, int stream, std::int64_t length,
                  Millis at_most = kPatience);
  /// Waits until the stream holds this text.
  bool wait_log(std::int64_t run, int stream, const std::string& text,
                Millis at_most = kPatience);
  std::int64_t dropped(std::int64_t run, int stream);
  int repeats(std::int64_t run);       ///< how often its outcome came
  int bad_chunks();                    ///< wrong CRC, or a repeat with other borders or bytes
  std::string reported_life(std::int64_t run);
  /// When each renewal came, since the last call.
  std::vector<MonoTime> collect_renewals();

 private:
  using Stream = std::pair<std::int64_t, int>;
  struct Chunk {
    std::string bytes;
    std::int64_t dropped_before = 0;
  };
  std::string joined(const Stream& stream) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool deaf_ = false;
  bool vouching_ = true;
  std::map<std::pair<std::int64_t, int>, thrift::Outcome> outcomes_;
  std::map<std::int64_t, std::string> lives_;
  std::map<std::int64_t, int> repeats_;
  std::map<std::int64_t, bool> started_;
  std::map<std::int64_t, Told> notes_;
  std::map<Stream, std::map<std::int64_t, Chunk>> chunks_;
  int bad_chunks_ = 0;
  std::vector<MonoTime> renewals_;  ///< the newest 100,000
  std::unique_ptr<rpc::Server> server_;
};

}  // namespace rota::testing
