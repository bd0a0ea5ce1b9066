// One worker for all nasty programs. Each case acquires it, runs its programs, and releases it: then nothing of
// them may be left. How late the worker's heartbeat was meanwhile is recorded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "test/integration/worker/worker_rig.h"

namespace rota::testing {

/// Environment variable ROTA_NASTY_LONG=1: the long form. ROTA_NASTY_MEANS: the worker's containment.
bool is_long_form();
std::vector<std::string> by_sh(const std::string& text);
std::vector<std::string> by_python(const std::string& text);
/// test-bin/nasty_job DEED [NUMBER].
std::vector<std::string> nasty(const std::string& deed, long number = 0);

/// The expected record of a run; -1: any value.
struct Record {
  std::string state = "succeeded";
  std::string reason = "none";
  int exit_status = 0;
  int signal = 0;
};
inline Record exited(int status) {
  return status == 0 ? Record{} : Record{"failed", "exit_status", status, 0};
}
inline Record signalled(int number) { return {"failed", "signalled", -1, number}; }
inline Record timed_out() { return {"timed_out", "attempt_timeout", -1, -1}; }
inline Record over(const std::string& reason) { return {"failed", reason, -1, -1}; }

/// The worker while one test case uses it. Thread: the test's.
class NastyWorker {
 public:
  NastyWorker();
  /// Checks that everything is as it was before.
  ~NastyWorker();
  NastyWorker(const NastyWorker&) = delete;
  NastyWorker& operator=(const NastyWorker&) = delete;

  /// A run that may be changed before it is dispatched.
  thrift::DispatchItem item(std::vector<std::string> argv);
  /// Dispatches it; returns its number.
  std::int64_t start(const thrift::DispatchItem& item);
  std::int64_t start(std::vector<std::string> argv) { return start(item(std::move(argv))); }
  /// Waits for its end and compares the record with the expected one. Returns the outcome for further checks.
  thrift::Outcome expect(std::int64_t run, const Record& record, Millis at_most = testing::kPatience);
  thrift::Outcome run(std::vector<std::string> argv, const Record& record) {
    return expect(start(std::move(argv)), record);
  }

  WorkerUnderTest& worker();
  FakeMaster& master();
  /// kill -9 of the proper; returns when the next one has joined.
  void kill_proper();
  std::string text(std::int64_t run, int stream, std::int64_t length);
  /// The folder of the attempts' work folders, and one beside it that nothing may touch.
  const std::string& work_dir() const;
  std::string scratch(const std::string& name) const;

 private:
  std::vector<std::int64_t> runs_;
};

}  // namespace rota::testing
