// As whom a job runs, when it does not run as the worker itself.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

struct JobUser {
  warden::User ids;
  std::string home;
};

/// Looks a user up, with all his groups. Denied: the worker's file does not list him under
/// `run_as_users` (root is no exception); NotFound: this host does not know him.
Result<JobUser> job_user(const std::string& name, const std::vector<std::string>& allowed);

}  // namespace rota::worker::run
