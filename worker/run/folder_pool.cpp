#include "worker/run/folder_pool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/random.h"
#include "worker/run/folder_removal.h"

namespace rota::worker::run {

namespace {
constexpr const char* kKeptName = "kept";
constexpr const char* kSpareName = "spare";
constexpr std::size_t kMostKept = 100;

/// Whose folder it is, when another attempt of his may have it: it is empty, and nobody else may enter.
std::optional<uid_t> owner_of_reusable(const std::string& folder) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
  if ((info.st_mode & 07777) != 0700) return std::nullopt;
  std::error_code trouble;
  if (!std::filesystem::is_empty(folder, trouble) || trouble) return std::nullopt;
  return info.st_uid;
}

bool make_or_have(const std::string& folder, mode_t mode) {
  return ::mkdir(folder.c_str(), mode) == 0 || errno == EEXIST;
}

}  // namespace

FolderPool::FolderPool(std::string root, std::size_t stock)
    : root_(std::move(root)),
      own_(root_ + "/" + random_hex(6)),
      spare_(root_ + "/" + kSpareName),
      stock_(stock) {}

FolderPool::~FolderPool() { stop(); }

Result<void> FolderPool::start() {
  if (auto made = make_folders(root_); !made) return made;
  adopt_spare();
  if (!make_or_have(own_, 0711)) {
    log_warn("run", "no room for work folders; attempts that need one are refused until there is",
             {{"folder", own_}, {"why", std::strerror(errno)}});
  }
  remover_ = std::jthread([this](std::stop_token stop) { remove_loop(stop); });
  return {};
}

void FolderPool::stop() {
  remover_.request_stop();
  rubbish_.close();
  if (remover_.joinable()) remover_.join();
}

/// What the previous life has made in advance.
void FolderPool::adopt_spare() {
  if (::rename(spare_.c_str(), own_.c_str()) != 0) return;
  std::scoped_lock lock(mutex_);
  for (const std::string& name : names_in(own_).value_or(Names{})) {
    std::uint64_t number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec != std::errc{} || owner_of_reusable(own_ + "/" + name) != ::geteuid()) continue;
    free_[::geteuid()].push_back(own_ + "/" + name);
    made_ = std::max(made_, number);
  }
}

bool FolderPool::stock() { return stock_own() && stock_spare(); }

bool FolderPool::stock_own() {
  if (!make_or_have(own_, 0711)) return false;
  for (;;) {
    std::string folder;
    {
      std::scoped_lock lock(mutex_);
      if (free_[::geteuid()].size() + used_.size() >= stock_) return true;
      folder = next_folder();
      used_.insert(folder);  // so that it does not look like a stray
    }
    const bool is_made = ::mkdir(folder.c_str(), 0700) == 0;
    std::scoped_lock lock(mutex_);
    used_.erase(folder);
    if (!is_made) return false;
    free_[::geteuid()].push_back(std::move(folder));
  }
}

bool FolderPool::stock_spare() const {
  if (stock_ > 0 && !make_or_have(spare_, 0711)) return false;
  for (std::size_t i = 1; i <= stock_; ++i) {
    if (!make_or_have(spare_ + "/" + std::to_string(i), 0700)) return false;
  }
  return true;
}

std::string FolderPool::next_folder() { return own_ + "/" + std::to_string(++made_); }

Result<std::string> FolderPool::acquire(uid_t owner) {
  if (auto folder = take_free(owner)) return std::move(*folder);
  auto made = make();
  if (made || owner == ::geteuid()) return made;
  // The disk is full: then there are those that were made in advance.
  if (auto folder = take_free(::geteuid())) return std::move(*folder);
  return made;
}

std::optional<std::string> FolderPool::take_free(uid_t owner) {
  std::scoped_lock lock(mutex_);
  std::vector<std::string>& folders = free_[owner];
  while (!folders.empty()) {
    std::string folder = std::move(folders.back());
    folders.pop_back();
    // Another attempt may have reached it meanwhile.
    if (owner_of_reusable(folder) != owner) continue;
    used_.insert(folder);
    return folder;
  }
  return std::nullopt;
}

Result<std::string> FolderPool::make() {
  std::string folder;
  {
    std::scoped_lock lock(mutex_);
    folder = next_folder();
    used_.insert(folder);
  }
  if (::mkdir(folder.c_str(), 0700) == 0) return folder;
  const std::string why = std::strerror(errno);
  std::scoped_lock lock(mutex_);
  used_.erase(folder);
  return fail(ErrorCode::Unavailable, "make work folder " + folder + ": " + why);
}

void FolderPool::release(const std::string& folder) {
  const bool is_of_now = folder.starts_with(own_ + "/");
  struct stat info {};
  const bool is_there = ::lstat(folder.c_str(), &info) == 0;
  {
    std::scoped_lock lock(mutex_);
    used_.erase(folder);
    if (const auto owner = is_of_now ? owner_of_reusable(folder) : std::nullopt) {
      free_[*owner].push_back(folder);
      return;
    }
  }
  if (!is_there && is_of_now) return remove_strays();  // it was renamed, or has removed itself
  rubbish_.push(std::string(folder));
}

/// Folders beside those in use belong to nobody: a job gave its folder another name.
void FolderPool::remove_strays() {
  std::scoped_lock lock(mutex_);
  for (const std::string& name : names_in(own_).value_or(Names{})) {
    std::string path = own_ + "/" + name;
    const bool is_known = used_.contains(path) || std::ranges::any_of(free_, [&](const auto& of_owner) {
                            return std::ranges::count(of_owner.second, path) != 0;
                          });
    if (!is_known) rubbish_.push(std::move(path));
  }
}

Result<std::string> FolderPool::keep(const std::string& folder, model::AttemptKey key) {
  const std::string kept = root_ + "/" + kKeptName;
  if (auto made = make_folders(kept, 0711); !made) return fail(made.error());
  const std::string place =
      kept + "/" + std::to_string(key.run.value) + "." + std::to_string(key.attempt);
  {
    std::scoped_lock lock(mutex_);
    used_.erase(folder);
  }
  if (::rename(folder.c_str(), place.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    release(folder);
    return fail(ErrorCode::Unavailable, "keep " + folder + ": " + why);
  }
  thin_kept();
  return place;
}

void FolderPool::thin_kept() {
  std::error_code trouble;
  std::vector<std::pair<std::filesystem::file_time_type, std::string>> all;
  const std::string kept = root_ + "/" + kKeptName;
  for (const std::string& name : names_in(kept).value_or(Names{})) {
    std::string path = kept + "/" + name;
    all.emplace_back(std::filesystem::last_write_time(path, trouble), std::move(path));
  }
  if (all.size() <= kMostKept) return;
  std::ranges::sort(all);
  for (std::size_t i = 0; i + kMostKept < all.size(); ++i) rubbish_.push(std::move(all[i].second));
}

void FolderPool::remove_earlier() {
  for (const std::string& name : names_in(root_).value_or(Names{})) {
    std::string path = root_ + "/" + name;
    if (path != own_ && path != spare_ && name != kKeptName) rubbish_.push(std::move(path));
  }
}

void FolderPool::remove_loop(std::stop_token stop) {
  for (bool is_stocked = false; !stop.stop_requested();) {
    if (!is_stocked) is_stocked = stock();
    auto folder = rubbish_.pop(Millis{1000}, stop);
    if (!folder) continue;
    if (auto removed = remove_folder(*folder); !removed) {
      log_warn("run", "a work folder could not be removed",
               {{"folder", *folder}, {"why", removed.error().message}});
    }
  }
}

}  // namespace rota::worker::run
