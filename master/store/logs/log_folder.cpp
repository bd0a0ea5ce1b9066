#include "master/store/logs/log_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "common/base/file.h"

namespace rota::master::store {
namespace {

constexpr int kRunsPerBucketBits = 10;
constexpr mode_t kLogFolderMode = 0750;
constexpr mode_t kLogFileMode = 0640;

tl::unexpected<Error> folder_error(std::string_view doing, const std::string& path) {
  return fail(ErrorCode::Unavailable,
              fmt::format("log folder: {} {}: {}", doing, path, std::strerror(errno)));
}

std::optional<std::int64_t> number_in(std::string_view name, int base) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number, base);
  if (problem != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

/// The numbers that name what lies in a folder, from `least` on, in order.
Result<std::vector<std::int64_t>> numbers_in(const std::string& path, int base, std::int64_t least) {
  const auto names = names_in(path);
  if (!names) return fail(names.error());
  std::vector<std::int64_t> numbers;
  for (const std::string& name : *names) {
    const auto number = number_in(name, base);
    if (number && *number >= least) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<void> sync_folder(const std::string& path) {
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || ::fsync(folder.get()) != 0) return folder_error("sync", path);
  return {};
}

}  // namespace

std::string LogFolder::bucket_of(RunId run) const {
  return fmt::format("{}/{:013x}", root_, run.value >> kRunsPerBucketBits);
}

std::string LogFolder::folder_of(RunId run) const {
  return fmt::format("{}/{}", bucket_of(run), run.value);
}

std::string LogFolder::name_of(const LogStreamKey& key, std::string_view writer) {
  return fmt::format("{}.{}.{}.log", key.attempt.attempt, static_cast<int>(key.stream), writer);
}

Result<std::vector<std::string>> LogFolder::files_of(const LogStreamKey& key) const {
  auto names = names_in(folder_of(key.attempt.run));
  if (!names) return names;
  const std::string start = fmt::format("{}.{}.", key.attempt.attempt, static_cast<int>(key.stream));
  std::erase_if(*names, [&](const std::string& name) {
    return !name.starts_with(start) || !name.ends_with(".log");
  });
  std::sort(names->begin(), names->end());
  return names;
}

Result<std::vector<LogStreamKey>> LogFolder::streams_of(RunId run) const {
  const auto names = names_in(folder_of(run));
  if (!names) return fail(names.error());
  std::set<LogStreamKey> keys;
  for (const std::string_view name : *names) {
    const auto dot = std::min(name.find('.'), name.size());
    const auto attempt = number_in(name.substr(0, dot), 10);
    const std::string_view rest = name.substr(std::min(dot + 1, name.size()));
    const bool is_stream = rest.starts_with("1.") || rest.starts_with("2.");
    if (!attempt || !is_stream || !name.ends_with(".log")) continue;
    keys.insert({{run, static_cast<AttemptNo>(*attempt)}, rest[0] == '1' ? LogStream::Out : LogStream::Err});
  }
  return std::vector<LogStreamKey>(keys.begin(), keys.end());
}

Result<LogFolder::Opened> LogFolder::open_to_append(RunId run, const std::string& name) const {
  const std::string path = folder_of(run) + "/" + name;
  Opened opened;
  // The folder may go, with the last file of a run, just after it was made.
  for (int tries = 0; tries < 3; ++tries) {
    opened.file.reset(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (opened.file.is_open()) return opened;
    // Never the root: where a mount has gone nothing may be written beneath it.
    for (const std::string& folder : {bucket_of(run), folder_of(run)}) {
      if (::mkdir(folder.c_str(), kLogFolderMode) != 0 && errno != EEXIST) {
        return folder_error("make", folder);
      }
    }
    opened.file.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kLogFileMode));
    opened.is_new = true;
    if (opened.file.is_open()) return opened;
    if (errno != ENOENT) break;
  }
  return folder_error("open", path);
}

Result<UniqueFd> LogFolder::open_to_read(RunId run, const std::string& name) const {
  const std::string path = folder_of(run) + "/" + name;
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.is_open()) return file;
  if (errno == ENOENT) return fail(ErrorCode::NotFound, "no log file " + path);
  return folder_error("open", path);
}

std::int64_t LogFolder::size_of(RunId run, const std::string& name) const {
  struct stat info {};
  return ::stat((folder_of(run) + "/" + name).c_str(), &info) == 0 ? info.st_size : -1;
}

bool LogFolder::cut(RunId run, const std::string& name, std::int64_t length) const {
  const std::string path = folder_of(run) + "/" + name;
  return (length == 0 ? ::unlink(path.c_str()) : ::truncate(path.c_str(), length)) == 0;
}

Result<void> LogFolder::sync_names(RunId run) const {
  for (const std::string& path : {folder_of(run), bucket_of(run), root_}) {
    if (auto synced = sync_folder(path); !synced) return synced;
  }
  return {};
}

Result<void> LogFolder::sync_all() const {
  const UniqueFd folder(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open() || ::syncfs(folder.get()) != 0) return folder_error("sync", root_);
  return {};
}

Result<std::vector<RunId>> LogFolder::runs_after(RunId after, std::size_t limit) const {
  std::vector<RunId> runs;
  const auto buckets = numbers_in(root_, 16, after.value >> kRunsPerBucketBits);
  if (!buckets) return fail(buckets.error());
  for (const std::int64_t bucket : *buckets) {
    const std::string path = bucket_of(RunId{bucket << kRunsPerBucketBits});
    const auto found = numbers_in(path, 10, after.value + 1);
    if (!found) return fail(found.error());
    for (const std::int64_t run : *found) {
      if (runs.size() >= limit) return runs;
      runs.push_back(RunId{run});
    }
  }
  return runs;
}

Result<std::int64_t> LogFolder::bytes_of(RunId run) const {
  const std::string path = folder_of(run);
  const auto names = names_in(path);
  if (!names) return fail(names.error());
  std::int64_t bytes = 0;
  for (const std::string& name : *names) {
    struct stat info {};
    if (::stat((path + "/" + name).c_str(), &info) == 0) bytes += info.st_size;
  }
  return bytes;
}

Result<std::int32_t> LogFolder::erase(RunId run, std::int32_t most) const {
  const std::string path = folder_of(run);
  const auto names = names_in(path);
  if (!names) return fail(names.error());
  std::int32_t erased = 0;
  for (const std::string& name : *names) {
    if (erased >= most) return erased;
    const std::string file = path + "/" + name;
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) return folder_error("delete", file);
    ++erased;
  }
  ::rmdir(path.c_str());  // not empty: somebody just wrote, and the next round comes by
  ::rmdir(bucket_of(run).c_str());
  return erased;
}

Result<std::string> read_part(int file, std::int64_t at, std::size_t bytes) {
  std::string part(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t got = ::pread(file, part.data() + have, bytes - have,
                                at + static_cast<std::int64_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::Unavailable, std::string("read a log file: ") + std::strerror(errno));
    }
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  part.resize(have);
  return part;
}

}  // namespace rota::master::store
