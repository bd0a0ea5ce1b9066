#include "worker/run/spool_stream.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "worker/run/chunk_index.h"

namespace rota::worker::run {

namespace {

constexpr std::int64_t kPunchStep = 1 << 20;
constexpr std::int64_t kPage = 4096;

tl::unexpected<Error> disk_error(const std::string& doing) {
  return fail(ErrorCode::Unavailable, doing + ": " + std::strerror(errno));
}

Result<UniqueFd> open_file(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open()) return disk_error("open " + path);
  return fd;
}

/// Files that hold nothing yet would be left for good, since nobody knows their stream.
void remove_if_new(const StreamPath& path) {
  struct stat data {}, index {};
  if (::stat(path.data.c_str(), &data) != 0 || data.st_size > 0) return;
  const bool has_index = ::stat(path.index.c_str(), &index) == 0;
  if (has_index && index.st_size >= static_cast<off_t>(kBorderBytes)) return;
  if (has_index) ::unlink(path.index.c_str());
  ::unlink(path.data.c_str());
}

}  // namespace

std::int64_t StreamLimits::tail_bytes() const {
  return std::min<std::int64_t>(cap_bytes / 8, 1 << 20);
}

SpoolStream::SpoolStream(StreamLimits limits, UniqueFd data, UniqueFd index)
    : limits_(limits),
      data_(std::move(data)),
      index_(std::move(index)),
      head_limit_(limits.head_bytes()),
      tail_(limits.tail_bytes()) {}

Result<std::unique_ptr<SpoolStream>> SpoolStream::open(const StreamPath& path,
                                                       StreamLimits limits) {
  auto data = open_file(path.data);
  if (!data) return fail(data.error());
  auto index = open_file(path.index);
  if (!index) {
    remove_if_new(path);
    return fail(index.error());
  }
  std::unique_ptr<SpoolStream> stream(
      new SpoolStream(limits, std::move(*data), std::move(*index)));
  if (auto done = stream->recover(); !done) {
    remove_if_new(path);
    return fail(done.error());
  }
  return stream;
}

Result<void> SpoolStream::recover() {
  struct stat info {};
  if (::fstat(data_.get(), &info) != 0) return disk_error("stat of a spool file");
  raw_ = info.st_size;
  auto known = read_index(index_.get(), 0);
  if (!known) return fail(known.error());
  for (const ChunkBorder& border : *known) {
    if (is_head_end(border)) {
      head_limit_ = border.raw_offset;
      tail_ = border.log_offset;
    } else {
      bordered_ = border.raw_offset + border.length;
      log_ = border.log_offset + border.length;
    }
  }
  borders_ = static_cast<std::int64_t>(known->size());
  raw_ = std::max(raw_, bordered_);
  if (::fstat(index_.get(), &info) != 0) return disk_error("stat of a spool index");
  damaged_index_ = info.st_size - borders_ * static_cast<std::int64_t>(kBorderBytes);
  const auto size = static_cast<off_t>(borders_ * static_cast<std::int64_t>(kBorderBytes));
  if (::ftruncate(index_.get(), size) != 0) return disk_error("truncate a spool index");
  if (raw_ > bordered_) oldest_open_ = MonoTime{};
  return borders_ > 0 ? Result<void>{} : append_index(head_end(head_limit_, tail_));
}

SpoolStream::PipeRead SpoolStream::read_pipe(int pipe, std::int64_t budget, MonoTime now) {
  PipeRead read;
  while (read.bytes < budget && !disk_full_) {
    loff_t offset = raw_;
    const ssize_t moved =
        ::splice(pipe, nullptr, data_.get(), &offset,
                 static_cast<std::size_t>(budget - read.bytes), SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (moved > 0) {
      if (raw_ == bordered_ && !oldest_open_) oldest_open_ = now;
      raw_ += moved;
      read.bytes += moved;
      continue;
    }
    if (moved < 0 && errno == EINTR) continue;
    if (moved == 0) read.at_end = true;
    if (moved < 0 && errno == EAGAIN) read.is_empty = true;
    if (read.at_end || read.is_empty) break;
    disk_full_ = !make_room_ || !make_room_();
  }
  punch_middle();
  if (!disk_full_) return read;
  const PipeRead more = discard(pipe, budget - read.bytes);
  return {read.bytes + more.bytes, more.at_end, more.is_empty};
}

SpoolStream::PipeRead SpoolStream::discard(int pipe, std::int64_t budget) {
  static thread_local std::array<char, 65'536> scratch;
  PipeRead read;
  while (read.bytes < budget) {
    const ssize_t got = ::read(pipe, scratch.data(), scratch.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) read.at_end = true;
    if (got < 0) read.is_empty = true;
    if (got <= 0) break;
    read.bytes += got;
    lost_ += got;
    if (got < static_cast<ssize_t>(scratch.size())) {
      read.is_empty = true;
      break;
    }
  }
  return read;
}

void SpoolStream::punch_middle() {
  if (raw_ <= head_limit_ + tail_) return;
  const std::int64_t from = std::max(head_limit_, punched_);
  const std::int64_t to = (raw_ - tail_) / kPage * kPage;
  if (to - from < kPunchStep) return;
  ::fallocate(data_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
  punched_ = to;
}

void SpoolStream::stop_keeping() {
  const std::int64_t end = std::max(raw_, bordered_);
  if (end >= head_limit_) return;
  head_limit_ = end;
  // Written down, so that a later life cuts at the same place. Should the disk refuse this line, that
  // life keeps more than it should, which harms nothing.
  (void)append_index(head_end(end, tail_));
}

std::int64_t SpoolStream::kept_bytes() const {
  return std::min(raw_, head_limit_ + tail_ + kPunchStep);
}

std::optional<MonoTime> SpoolStream::border_due() const {
  const std::int64_t open = std::min(raw_, head_limit_) - bordered_;
  if (open <= 0 || !oldest_open_) return std::nullopt;
  if (open >= limits_.chunk_bytes) return MonoTime{};
  return *oldest_open_ + limits_.chunk_age;
}

Result<int> SpoolStream::fix_borders(Now now) {
  int made = 0;
  const std::int64_t end = std::min(raw_, head_limit_);
  while (bordered_ < end) {
    const std::int64_t length = std::min(end - bordered_, limits_.chunk_bytes);
    const bool is_due = oldest_open_ && *oldest_open_ + limits_.chunk_age <= now.mono;
    if (length < limits_.chunk_bytes && !is_due) break;
    if (auto done = add_border(bordered_, length, 0, now.wall); !done) return fail(done.error());
    ++made;
  }
  if (bordered_ >= end) {
    oldest_open_.reset();
  } else if (made > 0) {
    oldest_open_ = now.mono;  // what is left came with the last bytes
  }
  return made;
}

Result<int> SpoolStream::finish(Now now) {
  int made = 0;
  const bool is_cut = raw_ > head_limit_ + tail_;
  const std::int64_t tail_start = is_cut ? raw_ - tail_ : head_limit_;
  while (bordered_ < raw_) {
    const bool in_head = bordered_ < head_limit_;
    const std::int64_t from = in_head ? bordered_ : std::max(bordered_, tail_start);
    const std::int64_t end = in_head ? std::min(raw_, head_limit_) : raw_;
    const std::int64_t length = std::min(end - from, limits_.chunk_bytes);
    if (auto done = add_border(from, length, from - bordered_, now.wall); !done) {
      return fail(done.error());
    }
    ++made;
  }
  oldest_open_.reset();
  return made;
}

Result<void> SpoolStream::add_border(std::int64_t from, std::int64_t length, std::int64_t dropped,
                                     WallTime now) {
  auto bytes = read_exactly(data_.get(), from, static_cast<std::size_t>(length));
  if (!bytes) return fail(bytes.error());
  ChunkBorder border{from, log_, dropped, to_ms(now), static_cast<std::uint32_t>(length),
                     crc_of(*bytes)};
  if (auto done = append_index(border); !done) return done;
  bordered_ = from + length;
  log_ += length;
  return {};
}

Result<void> SpoolStream::append_index(const ChunkBorder& border) {
  const std::string line = encode_border(border);
  const auto at = static_cast<off_t>(borders_ * static_cast<std::int64_t>(kBorderBytes));
  ssize_t written = ::pwrite(index_.get(), line.data(), line.size(), at);
  if (written != static_cast<ssize_t>(line.size()) && make_room_ && make_room_()) {
    written = ::pwrite(index_.get(), line.data(), line.size(), at);
  }
  if (written != static_cast<ssize_t>(line.size())) return disk_error("write a spool index");
  ++borders_;
  return {};
}

}  // namespace rota::worker::run
