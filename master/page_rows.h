// The newest runs and jobs for the status page. Pages answer from memory, so a thread of its own reads them
// from the store: only while somebody looks, and at most every two seconds.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/time.h"
#include "master/store/reader.h"

namespace rota::master {

/// As they stood at one moment.
struct PageRowsRead {
  std::vector<store::RunRow> runs;             ///< newest first
  std::vector<store::JobRow> jobs;             ///< by name
  std::map<JobId, store::RunRow> newest;       ///< of these jobs
  std::string trouble;                         ///< why they could not be read; empty: they were
};

/// Of the namespace "default".
inline constexpr std::int32_t kRowsOnPage = 20;

/// One reading. Blocks for the reader's deadlines.
PageRowsRead read_page_rows(store::Reader& reader);

/// Owner: Master. Thread: any; the reader outlives it.
class PageRows {
 public:
  explicit PageRows(store::Reader& reader) : reader_(reader) {}
  ~PageRows() { stop(); }

  void start();
  /// Waits for the reading under way. Twice is fine.
  void stop();
  /// What was read last, null before the first reading, and asks for the next one. Never waits.
  std::shared_ptr<const PageRowsRead> last();

 private:
  void loop(std::stop_token stop);

  store::Reader& reader_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool asked_ = false;
  std::shared_ptr<const PageRowsRead> read_;
  std::jthread thread_;
};

}  // namespace rota::master
