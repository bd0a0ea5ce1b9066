// Looks twice a second at who leads, and at what keeps this master from office, apart from the threads that
// may hang in a takeover or in the database. It logs each change, and tells of it at once.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "common/base/result.h"
#include "master/cluster/elector.h"
#include "master/office/office_state.h"

namespace rota::master {

/// Each may be asked by the watch's thread at any time; those of ZooKeeper may wait for its deadline.
struct OfficeWatchParts {
  std::function<Leads()> leads;
  std::function<bool()> has_session;
  bool stands_in_zookeeper = true;               ///< without a session nothing is known of the candidacy
  std::function<std::string()> database;         ///< why it keeps this master from standing; or empty
  std::function<cluster::Candidacy()> candidacy;
  /// What is known of the candidate of that name, in words: "n_... of master-2".
  std::function<std::string(const std::string& name)> describe;
  std::function<void()> changed;                 ///< health's word is another one
};

/// One look: what the parts say becomes the state's troubles. Takeover's and Cluster's are reported by
/// those who find them.
void look_at_office(const OfficeWatchParts& parts, OfficeState& state);

/// Owner: Master. One thread of its own.
class OfficeWatch {
 public:
  /// The state outlives it.
  OfficeWatch(OfficeWatchParts parts, OfficeState& state);
  ~OfficeWatch() { stop(); }
  void stop();

 private:
  void loop(std::stop_token stop);
  void tell();

  const OfficeWatchParts parts_;
  OfficeState& state_;
  std::string told_ = "ok";          // watch thread only
  std::mutex mutex_;
  std::condition_variable_any never_;
  std::jthread thread_;              // last: it uses the rest
};

}  // namespace rota::master
