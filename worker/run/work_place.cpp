#include "worker/run/work_place.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "common/base/unique_fd.h"

namespace rota::worker::run {

namespace {

Result<void> write_new(const std::string& path, std::string_view text) {
  // Never through something that an earlier job may have left: the folder is the worker's own and empty.
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700));
  const auto broken = [&] {
    return fail(ErrorCode::Unavailable, "write " + path + ": " + std::strerror(errno));
  };
  if (!file.is_open()) return broken();
  while (!text.empty()) {
    const ssize_t done = ::write(file.get(), text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return broken();
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

/// A failure shows at the start of the attempt, which names the file that the user may not read.
void give_to_user(const WorkPlace& place) {
  if (!place.user) return;
  for (const std::string* path :
       {&place.folder, &place.script_file, &place.checkpoint_file, &place.facts_file}) {
    if (!path->empty()) (void)!::chown(path->c_str(), place.user->uid, place.user->gid);
  }
}

Result<void> write_files(WorkPlace& place, const desk::Order& order, const std::string& facts) {
  const auto put = [&](const char* name, std::string_view text, std::string& path) {
    path = place.folder + name;
    return write_new(path, text);
  };
  Result<void> written;
  if (!facts.empty()) {
    written = put("/.rota-facts", facts, place.facts_file);
  } else if (order.work.argv.empty()) {
    written = put("/.rota-script", order.work.script, place.script_file);
  }
  if (written && order.checkpoint) {
    written = put("/.rota-checkpoint", *order.checkpoint, place.checkpoint_file);
  }
  return written;
}

}  // namespace

Result<WorkPlace> make_work_place(FolderPool& folders, JobUsers& users, const desk::Order& order,
                                  const std::string& facts) {
  WorkPlace place;
  if (!order.work.run_as.empty()) {
    auto user = users.find(order.work.run_as);
    if (!user) return fail(user.error());
    place.user = std::move(user->ids);
    place.home = std::move(user->home);
  }
  const bool needs_files = !facts.empty() || order.work.argv.empty() || order.checkpoint;
  if (!order.work.folder.empty() && !needs_files) return place;
  auto folder = folders.acquire(place.user ? place.user->uid : ::geteuid());
  if (!folder) return fail(folder.error());
  place.folder = *folder;
  if (auto written = write_files(place, order, facts); !written) {
    clear_work_place(place);
    folders.release(place.folder);
    return fail(written.error());
  }
  give_to_user(place);
  return place;
}

void clear_work_place(const WorkPlace& place) {
  for (const std::string* path : {&place.script_file, &place.checkpoint_file, &place.facts_file}) {
    if (!path->empty()) ::unlink(path->c_str());
  }
}

}  // namespace rota::worker::run
