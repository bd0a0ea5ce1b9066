#include "test/integration/worker/fake_master.h"

#include <zlib.h>

#include <utility>

#include "common/base/check.h"
#include "common/rpc/error_wire.h"

namespace rota::testing {

namespace {
/// Lends the fake to a server, which wants to own its handler.
template <typename T>
std::shared_ptr<T> lent(T* it) {
  return std::shared_ptr<T>(it, [](T*) {});
}
}  // namespace

FakeMaster::FakeMaster() {
  rpc::ServerOptions options;
  options.threads = 4;
  server_ = std::make_unique<rpc::Server>(
      std::make_shared<thrift::ReportServiceProcessor>(lent<thrift::ReportServiceIf>(this)),
      options);
  CHECK_OR_DIE(server_->start().has_value(), "the fake master listens");
}

FakeMaster::~FakeMaster() { server_->stop(); }

std::string FakeMaster::address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

void FakeMaster::report(std::vector<thrift::AttemptKey>& stored,
                        const thrift::ReportRequest& request) {
  std::scoped_lock lock(mutex_);
  if (deaf_) throw rpc::to_wire(Error(ErrorCode::Unavailable, "deaf"));
  for (const thrift::Report& report : request.reports) {
    if (report.__isset.note) {
      auto& said = notes_[report.attempt.run];
      ++said.count;
      if (report.note.__isset.percent) said.percent = report.note.percent;
      if (report.note.__isset.checkpoint) said.checkpoint = report.note.checkpoint;
    }
    if (report.what == "started") {
      started_[report.attempt.run] = true;
      stored.push_back(report.attempt);
      continue;
    }
    ++repeats_[report.attempt.run];
    lives_[report.attempt.run] = report.worker.incarnation;
    outcomes_[{report.attempt.run, report.attempt.attempt}] = report.outcome;
    stored.push_back(report.attempt);
  }
  changed_.notify_all();
}

void FakeMaster::append_log(std::vector<std::int64_t>& ends,
                            const std::vector<thrift::LogChunk>& chunks) {
  std::scoped_lock lock(mutex_);
  if (deaf_) throw rpc::to_wire(Error(ErrorCode::Unavailable, "deaf"));
  for (const thrift::LogChunk& chunk : chunks) {
    auto& stream = chunks_[{chunk.attempt.run, chunk.stream}];
    const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(chunk.bytes.data()),
                             static_cast<uInt>(chunk.bytes.size()));
    if (static_cast<std::int64_t>(crc) != chunk.crc32) ++bad_chunks_;
    const auto [at, is_new] = stream.try_emplace(chunk.offset, Chunk{chunk.bytes, chunk.dropped_before});
    if (!is_new && at->second.bytes != chunk.bytes) ++bad_chunks_;
    ends.push_back(stream.rbegin()->first +
                   static_cast<std::int64_t>(stream.rbegin()->second.bytes.size()));
  }
  changed_.notify_all();
}

void FakeMaster::renew(const thrift::RenewRequest&) {
  std::scoped_lock lock(mutex_);
  if (renewals_.size() < 100'000) renewals_.push_back(BootClock::now());
  if (!vouching_) throw rpc::to_wire(Error(ErrorCode::Unavailable, "not vouching"));
}

std::vector<MonoTime> FakeMaster::collect_renewals() {
  std::scoped_lock lock(mutex_);
  return std::exchange(renewals_, {});
}

std::string FakeMaster::joined(const Stream& stream) const {
  std::string all;
  const auto found = chunks_.find(stream);
  if (found == chunks_.end()) return all;
  std::int64_t end = 0;
  for (const auto& [offset, chunk] : found->second) {
    if (offset - chunk.dropped_before != end) break;
    all += chunk.bytes;
    end = offset + static_cast<std::int64_t>(chunk.bytes.size());
  }
  return all;
}

void FakeMaster::set_deaf(bool deaf) {
  std::scoped_lock lock(mutex_);
  deaf_ = deaf;
}

void FakeMaster::set_vouching(bool vouching) {
  std::scoped_lock lock(mutex_);
  vouching_ = vouching;
}

thrift::Outcome FakeMaster::outcome(std::int64_t run, Millis at_most, int attempt) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [&] { return outcomes_.contains({run, attempt}); });
  const auto found = outcomes_.find({run, attempt});
  return found == outcomes_.end() ? thrift::Outcome() : found->second;
}

bool FakeMaster::has_outcome(std::int64_t run, int attempt) {
  std::scoped_lock lock(mutex_);
  return outcomes_.contains({run, attempt});
}

bool FakeMaster::wait_started(std::int64_t run, Millis at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] { return started_.contains(run); });
}

FakeMaster::Told FakeMaster::wait_checkpoint(std::int64_t run, const std::string& checkpoint,
                                             Millis at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [&] { return notes_[run].checkpoint == checkpoint; });
  return notes_[run];
}

std::string FakeMaster::log(std::int64_t run, int stream, std::int64_t length, Millis at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [&] {
    std::int64_t have = 0;
    for (const auto& [offset, chunk] : chunks_[{run, stream}]) {
      have += static_cast<std::int64_t>(chunk.bytes.size());
    }
    return have >= length;
  });
  return joined({run, stream});
}

bool FakeMaster::wait_log(std::int64_t run, int stream, const std::string& text, Millis at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] {
    return joined({run, stream}).find(text) != std::string::npos;
  });
}

std::int64_t FakeMaster::dropped(std::int64_t run, int stream) {
  std::scoped_lock lock(mutex_);
  std::int64_t sum = 0;
  for (const auto& [offset, chunk] : chunks_[{run, stream}]) sum += chunk.dropped_before;
  return sum;
}

int FakeMaster::repeats(std::int64_t run) {
  std::scoped_lock lock(mutex_);
  return repeats_[run];
}

int FakeMaster::bad_chunks() {
  std::scoped_lock lock(mutex_);
  return bad_chunks_;
}

std::string FakeMaster::reported_life(std::int64_t run) {
  std::scoped_lock lock(mutex_);
  return lives_[run];
}

}  // namespace rota::testing
