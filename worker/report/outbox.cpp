#include "worker/report/outbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "common/base/file.h"

namespace rota::worker::report {

namespace {

constexpr std::int64_t kFillStep = 256 << 10;
constexpr std::int64_t kCompactAbove = 4 << 20;
constexpr std::size_t kMostFileBytes = 2ull << 30;

tl::unexpected<Error> disk_error(const std::string& doing) {
  return fail(ErrorCode::Unavailable, doing + ": " + std::strerror(errno));
}

Result<UniqueFd> open_file(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) return disk_error("open " + path);
  return file;
}

Result<void> write_all(int file, std::string_view bytes, std::int64_t at, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return disk_error("write " + path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
  return {};
}

/// Zeros from `from` to `to`, as far as the disk has room. Gives where they end.
std::int64_t fill_with_zeros(int file, std::int64_t from, std::int64_t to, const std::string& path) {
  static const std::string zeros(static_cast<std::size_t>(kFillStep), '\0');
  while (from < to) {
    const std::int64_t step = std::min(to - from, kFillStep);
    const std::string_view part(zeros.data(), static_cast<std::size_t>(step));
    if (!write_all(file, part, from, path)) break;
    from += step;
  }
  return from;
}

}  // namespace

Result<std::unique_ptr<Outbox>> Outbox::open(const std::string& path, std::int64_t reserve_bytes) {
  auto file = open_file(path);
  if (!file) return fail(file.error());
  std::unique_ptr<Outbox> outbox(new Outbox(path, std::move(*file), reserve_bytes));
  if (auto loaded = outbox->load(); !loaded) return fail(loaded.error());
  outbox->reserve();
  return outbox;
}

Result<void> Outbox::load() {
  auto bytes = read_file(path_, kMostFileBytes);
  if (!bytes) return fail(bytes.error());
  OutboxContent content = read_records(*bytes);
  for (OutboxRecord& record : content.records) {
    if (const auto* done = std::get_if<Acknowledged>(&record)) {
      live_.erase(done->key);
      continue;
    }
    auto& report = std::get<model::AttemptReport>(record);
    live_[report.key] = std::move(report);
  }
  for (const auto& [key, report] : live_) {
    sizes_[key] = static_cast<std::int64_t>(encode(report).size());
    live_bytes_ += sizes_[key];
  }
  end_ = static_cast<std::int64_t>(content.end);
  damaged_bytes_ = content.damaged_bytes;
  torn_bytes_ = content.torn_bytes;
  // A torn tail must not stand behind new records: what follows the end becomes zeros again. In place:
  // these blocks are allocated already.
  const auto torn_end = end_ + static_cast<std::int64_t>(torn_bytes_);
  if (fill_with_zeros(file_.get(), end_, torn_end, path_) < torn_end) return disk_error("write " + path_);
  zeroed_ = static_cast<std::int64_t>(bytes->size());
  return {};
}

/// Best effort: while the disk is full there is what was reserved before.
void Outbox::reserve() {
  if (zeroed_ - end_ < reserve_bytes_ / 2) {
    zeroed_ = fill_with_zeros(file_.get(), std::max(zeroed_, end_), end_ + reserve_bytes_, path_);
    ::fdatasync(file_.get());
  }
  auto spare = open_file(spare_path());
  if (!spare) return;
  const auto size = ::lseek(spare->get(), 0, SEEK_END);
  if (size >= 0 && size < reserve_bytes_) {
    fill_with_zeros(spare->get(), size, reserve_bytes_, spare_path());
    ::fdatasync(spare->get());
  }
}

Result<void> Outbox::write_at_end(const std::string& bytes, bool sync) {
  const auto after = end_ + static_cast<std::int64_t>(bytes.size());
  if (auto written = write_all(file_.get(), bytes, end_, path_); !written) return written;
  if (sync) {
    if (::fdatasync(file_.get()) != 0) return disk_error("sync " + path_);
    ++syncs_;
  }
  zeroed_ = std::max(zeroed_, after);
  end_ = after;
  if (zeroed_ - end_ < reserve_bytes_ / 2) reserve();
  return {};
}

Result<void> Outbox::append(const std::vector<model::AttemptReport>& reports) {
  // Should the disk have no room for it, there still is what was reserved.
  if (should_compact()) (void)compact();
  std::string bytes;
  std::vector<std::int64_t> sizes;
  for (const model::AttemptReport& report : reports) {
    const std::string record = encode(report);
    sizes.push_back(static_cast<std::int64_t>(record.size()));
    bytes += record;
  }
  if (auto written = write_at_end(bytes, true); !written) return written;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const model::AttemptKey& key = reports[i].key;
    if (!live_.insert_or_assign(key, reports[i]).second) live_bytes_ -= sizes_[key];
    sizes_[key] = sizes[i];
    live_bytes_ += sizes[i];
  }
  return {};
}

Result<void> Outbox::acknowledge(const std::vector<model::AttemptKey>& keys) {
  std::string bytes;
  for (const model::AttemptKey& key : keys) {
    if (live_.erase(key) == 0) continue;
    live_bytes_ -= sizes_[key];
    sizes_.erase(key);
    bytes += encode(Acknowledged{key});
  }
  return bytes.empty() ? Result<void>{} : write_at_end(bytes, false);
}

bool Outbox::should_compact() const { return end_ > kCompactAbove && live_bytes_ < end_ / 2; }

/// The live records in the spare file, which replaces the old one.
Result<void> Outbox::compact() {
  std::string bytes;
  for (const auto& [key, report] : live_) bytes += encode(report);
  const auto length = static_cast<std::int64_t>(bytes.size());
  auto file = open_file(spare_path());
  if (!file) return fail(file.error());
  if (auto written = write_all(file->get(), bytes, 0, spare_path()); !written) return written;
  const auto size = ::lseek(file->get(), 0, SEEK_END);
  // What a failed try left behind the records must not be read as records.
  const auto filled = fill_with_zeros(file->get(), length, size, spare_path());
  if (filled < size) return disk_error("write " + spare_path());
  if (::fdatasync(file->get()) != 0) return disk_error("sync " + spare_path());
  if (::rename(spare_path().c_str(), path_.c_str()) != 0) return disk_error("rename to " + path_);
  file_ = std::move(*file);
  end_ = length;
  zeroed_ = std::max(size, length);
  if (auto synced = sync_folder_of(path_); !synced) return synced;
  reserve();
  return {};
}

}  // namespace rota::worker::report
