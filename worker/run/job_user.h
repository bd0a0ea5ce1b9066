// As whom a job runs, when it does not run as the worker itself.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

struct JobUser {
  warden::User ids;
  std::string home;
};

/// Whom this host knows by that name, with all his groups. NotFound: nobody.
Result<JobUser> look_up_user(const std::string& name);

/// The users that jobs may name in `run_as`. Reading the host's tables costs more than all else before a
/// start, so what was found is used for kFreshFor; a change of the tables is seen after that. What was not
/// found is looked up each time.
///
/// Thread: any. No lock is held while the host is asked.
class JobUsers {
 public:
  static constexpr Millis kFreshFor{2000};
  using LookUp = std::function<Result<JobUser>(const std::string&)>;

  /// `allowed`: the worker's `run_as_users`. `clock` outlives it.
  JobUsers(std::vector<std::string> allowed, const Clock& clock, LookUp look_up = look_up_user)
      : allowed_(std::move(allowed)), clock_(clock), look_up_(std::move(look_up)) {}

  /// Denied: the worker's file does not list him under `run_as_users` (root is no exception);
  /// NotFound: this host does not know him.
  Result<JobUser> find(const std::string& name);

 private:
  struct Known {
    JobUser user;
    MonoTime asked{};
  };

  const std::vector<std::string> allowed_;
  const Clock& clock_;
  const LookUp look_up_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // of allowed users only
};

}  // namespace rota::worker::run
