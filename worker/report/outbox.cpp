#include "worker/report/outbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/file.h"

namespace rota::worker::report {

namespace {

constexpr std::int64_t kFillStep = 256 << 10;       // written ahead, so that a sync changes no size
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

}  // namespace

Result<std::unique_ptr<Outbox>> Outbox::open(const std::string& path) {
  auto file = open_file(path);
  if (!file) return fail(file.error());
  std::unique_ptr<Outbox> outbox(new Outbox(path, std::move(*file)));
  if (auto loaded = outbox->load(); !loaded) return fail(loaded.error());
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
  // A torn tail must not stand behind new records: what follows the end becomes zeros again.
  if (::ftruncate(file_.get(), end_) != 0) return disk_error("truncate " + path_);
  zeroed_ = end_;
  return {};
}

Result<void> Outbox::write_at_end(const std::string& bytes, bool sync) {
  std::string block = bytes;
  const auto after = end_ + static_cast<std::int64_t>(bytes.size());
  if (after > zeroed_) {
    block.resize(block.size() + static_cast<std::size_t>(kFillStep - after % kFillStep), '\0');
  }
  std::size_t done = 0;
  while (done < block.size()) {
    const ssize_t written = ::pwrite(file_.get(), block.data() + done, block.size() - done,
                                     end_ + static_cast<std::int64_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return disk_error("write " + path_);
    done += static_cast<std::size_t>(written);
  }
  if (sync && ::fdatasync(file_.get()) != 0) return disk_error("sync " + path_);
  zeroed_ = std::max(zeroed_, end_ + static_cast<std::int64_t>(block.size()));
  end_ = after;
  return {};
}

Result<void> Outbox::append(const std::vector<model::AttemptReport>& reports) {
  if (should_compact()) {
    if (auto done = compact(); !done) return done;
  }
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

/// The live records in a new file, in place of the old one.
Result<void> Outbox::compact() {
  std::string bytes;
  for (const auto& [key, report] : live_) bytes += encode(report);
  const auto length = static_cast<std::int64_t>(bytes.size());
  if (auto written = write_file_synced(path_, bytes, 0600); !written) return written;
  auto file = open_file(path_);
  if (!file) return fail(file.error());
  file_ = std::move(*file);
  end_ = zeroed_ = length;
  return {};
}

}  // namespace rota::worker::report
