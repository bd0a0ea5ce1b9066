#include "worker/run/folder_pool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/random.h"

namespace rota::worker::run {

FolderPool::FolderPool(std::string root)
    : root_(std::move(root)), own_(root_ + "/" + random_hex(6)) {}

FolderPool::~FolderPool() { stop(); }

Result<void> FolderPool::start() {
  if (auto made = make_folders(own_, 0711); !made) return made;
  remover_ = std::jthread([this](std::stop_token stop) { remove_loop(stop); });
  return {};
}

void FolderPool::stop() {
  remover_.request_stop();
  rubbish_.close();
  if (remover_.joinable()) remover_.join();
}

Result<std::string> FolderPool::acquire() {
  std::string folder;
  {
    std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      folder = std::move(free_.back());
      free_.pop_back();
      return folder;
    }
    folder = own_ + "/" + std::to_string(++made_);
  }
  if (::mkdir(folder.c_str(), 0700) != 0) {
    return fail(ErrorCode::Unavailable, "make work folder " + folder + ": " + std::strerror(errno));
  }
  return folder;
}

bool FolderPool::is_reusable(const std::string& folder) const {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  if ((info.st_mode & 07777) != 0700 || info.st_uid != ::geteuid()) return false;
  std::error_code trouble;
  return std::filesystem::is_empty(folder, trouble) && !trouble;
}

void FolderPool::release(const std::string& folder) {
  if (is_reusable(folder)) {
    std::scoped_lock lock(mutex_);
    free_.push_back(folder);
    return;
  }
  rubbish_.push(std::string(folder));
}

void FolderPool::remove_earlier() {
  std::error_code trouble;
  for (const auto& entry : std::filesystem::directory_iterator(root_, trouble)) {
    if (entry.path().string() != own_) rubbish_.push(entry.path().string());
  }
}

void FolderPool::remove_loop(std::stop_token stop) {
  while (!stop.stop_requested()) {
    auto folder = rubbish_.pop(Millis{1000}, stop);
    if (!folder) continue;
    std::error_code trouble;
    std::filesystem::remove_all(*folder, trouble);
    if (trouble) {
      log_warn("run", "a work folder could not be removed",
               {{"folder", *folder}, {"why", trouble.message()}});
    }
  }
}

}  // namespace rota::worker::run
