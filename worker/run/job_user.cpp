#include "worker/run/job_user.h"

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

#include <algorithm>

namespace rota::worker::run {

namespace {

/// "nobody" would be the name of a user.
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "lists " : ", ") + name;
  return text.empty() ? "is empty" : text;
}

}  // namespace

Result<JobUser> look_up_user(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> text(16u << 10);
  ::getpwnam_r(name.c_str(), &entry, text.data(), text.size(), &found);
  if (found == nullptr) {
    return fail(ErrorCode::NotFound, "run_as: this host knows no user '" + name + "'");
  }
  int count = 256;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (::getgrouplist(name.c_str(), entry.pw_gid, groups.data(), &count) < 0) count = 256;
  groups.resize(static_cast<std::size_t>(count));
  return JobUser{{entry.pw_uid, entry.pw_gid, {groups.begin(), groups.end()}}, entry.pw_dir};
}

Result<JobUser> JobUsers::find(const std::string& name) {
  if (std::ranges::count(allowed_, name) == 0) {
    return fail(ErrorCode::Denied, "run_as: '" + name + "' is not allowed on this worker, whose " +
                                       "run_as_users " + listed(allowed_));
  }
  // Of the moment before the question: what changes while it is answered is seen in time.
  const MonoTime asked = clock_.mono();
  {
    std::scoped_lock lock(mutex_);
    const auto known = known_.find(name);
    if (known != known_.end() && asked < known->second.asked + kFreshFor) return known->second.user;
  }
  auto user = look_up_(name);
  std::scoped_lock lock(mutex_);
  if (user) {
    known_.insert_or_assign(name, Known{*user, asked});
  } else {
    known_.erase(name);
  }
  return user;
}

}  // namespace rota::worker::run
