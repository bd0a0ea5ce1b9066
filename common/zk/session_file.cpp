#include "common/zk/session_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <memory>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/spared_file.h"
#include "common/zk/session_json.h"

namespace rota::zk {

namespace {

std::string own_pid_namespace() {
  std::array<char, 64> name{};
  const ssize_t length = ::readlink("/proc/self/ns/pid", name.data(), name.size() - 1);
  return length > 0 ? std::string(name.data(), static_cast<std::size_t>(length)) : std::string();
}

bool is_same_process(const SessionRecord& a, const SessionRecord& b) {
  return a.pid == b.pid && a.start_ticks == b.start_ticks && a.boot_id == b.boot_id &&
         a.pid_namespace == b.pid_namespace;
}

SparedFile at(const std::string& path) { return SparedFile(path, 0600); }

Result<void> write_records(const std::string& path, const std::vector<SessionRecord>& records) {
  return records.empty() ? at(path).remove() : at(path).write(session_records_to_json(records));
}

/// Ends the sessions of dead processes in `records` and removes these records. Keeps the first error and
/// still tries the others.
Result<int> end_the_dead(std::vector<SessionRecord>& records, DeathProof proof,
                         const ClientFactory& factory, Millis at_most) {
  int ended = 0;
  std::optional<Error> trouble;
  std::vector<SessionRecord> left;
  for (auto& record : records) {
    Result<void> done = fail(ErrorCode::Conflict, "process " + std::to_string(record.pid) +
                                                      " is not proven dead; its session stays");
    if (proof == DeathProof::Caller || is_proven_dead(record)) {
      done = end_session(record, factory, at_most);
    }
    if (done) {
      ++ended;
    } else {
      if (!trouble) trouble = done.error();
      left.push_back(std::move(record));
    }
  }
  records = std::move(left);
  if (trouble) return fail(*trouble);
  return ended;
}

/// The handshake that end_session waits for; shared with the client's thread.
struct Handshake {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Event::What> what;

  void hear(const Event& event) {
    if (event.what != Event::What::Connected && event.what != Event::What::Expired) return;
    {
      std::scoped_lock lock(mutex);
      what = event.what;
    }
    changed.notify_all();
  }
  std::optional<Event::What> wait(Millis at_most) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, at_most, [&] { return what.has_value(); });
    return what;
  }
};

}  // namespace

bool is_proven_dead(const SessionRecord& record) {
  const auto boot = read_boot_id();
  if (!boot) return false;
  if (*boot != record.boot_id) return true;
  if (record.pid_namespace != own_pid_namespace()) return false;
  const auto ticks = process_start_ticks(record.pid);
  return !ticks || *ticks != record.start_ticks;
}

Result<SessionRecord> record_of_this_process() {
  const auto boot = read_boot_id();
  if (!boot) return fail(boot.error());
  const auto ticks = process_start_ticks(::getpid());
  if (!ticks) return fail(ErrorCode::Internal, "/proc does not tell when this process started");
  SessionRecord record;
  record.pid = ::getpid();
  record.start_ticks = *ticks;
  record.boot_id = *boot;
  record.pid_namespace = own_pid_namespace();
  return record;
}

Result<std::vector<SessionRecord>> read_session_file(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return fail(text.error());
  return session_records_from_json(*text);
}

namespace {

/// Attaches and closes once. True when the session was already over: this is the only proof.
Result<bool> attach_and_close(const ClientOptions& options, const ClientFactory& factory) {
  auto handshake = std::make_shared<Handshake>();
  auto client = factory(options, [handshake](const Event& event) { handshake->hear(event); });
  if (!client) return fail(client.error());
  const auto what = handshake->wait(options.operation_deadline);
  if (what == Event::What::Expired) return true;
  if (what == Event::What::Connected) {
    (*client)->close();
    return false;
  }
  return fail(ErrorCode::Unavailable,
              "ZooKeeper at " + options.addresses + " did not answer; the session stays");
}

}  // namespace

// A close may still be lost with its connection after it was sent (for example, when a living holder takes
// the session back at once). So it is repeated until attaching is answered with "expired".
Result<void> end_session(const SessionRecord& record, const ClientFactory& factory,
                         Millis at_most) {
  ClientOptions options;
  options.addresses = record.addresses;
  options.attach = record.credentials;
  const MonoTime end = BootClock::now() + at_most;
  while (BootClock::now() < end) {
    options.operation_deadline = floor_ms(end - BootClock::now());
    const auto over = attach_and_close(options, factory);
    if (!over) return fail(over.error());
    if (*over) return {};
  }
  return fail(ErrorCode::Unavailable,
              "the session at " + record.addresses + " could not be ended in time");
}

Result<int> end_dead_session(const std::string& path, DeathProof proof,
                             const ClientFactory& factory, Millis at_most) {
  auto records = read_session_file(path);
  if (!records) {
    if (records.error().code == ErrorCode::NotFound) return 0;
    return fail(records.error());
  }
  const std::size_t before = records->size();
  const auto ended = end_the_dead(*records, proof, factory, at_most);
  if (records->size() == before && !records->empty()) return ended;
  if (auto written = write_records(path, *records); !written) return fail(written.error());
  return ended;
}

SessionFile::SessionFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  at(path_).make_room();
  auto records = read_session_file(path_);
  if (records) {
    earlier_ = std::move(*records);
  } else if (records.error().code != ErrorCode::NotFound) {
    log_warn("zk", "the session file is ignored", {{"file", path_},
                                                   {"error", records.error().message}});
  }
  // A session of this same process in the file has expired or was left on purpose.
  if (const auto own = record_of_this_process()) {
    std::erase_if(earlier_, [&](const SessionRecord& each) { return is_same_process(each, *own); });
  }
}

Result<void> SessionFile::write_present(const Credentials& credentials,
                                        const std::string& addresses,
                                        const std::string& cluster_uuid) {
  if (path_.empty()) return {};
  auto record = record_of_this_process();
  if (!record) return fail(record.error());
  record->credentials = credentials;
  record->addresses = addresses;
  record->cluster_uuid = cluster_uuid;
  std::scoped_lock lock(mutex_);
  present_ = {std::move(*record)};
  return write_locked();
}

void SessionFile::forget_present() {
  if (path_.empty()) return;
  std::scoped_lock lock(mutex_);
  present_.clear();
  if (auto written = write_locked(); !written) {
    log_warn("zk", "the session file stays", {{"error", written.error().message}});
  }
}

Result<int> SessionFile::end_earlier(DeathProof proof, const ClientFactory& factory,
                                     Millis at_most) {
  std::vector<SessionRecord> left;
  {
    std::scoped_lock lock(mutex_);
    left = earlier_;
  }
  if (left.empty()) return 0;
  // Not under the lock: it may take long, and a new session may have to be written meanwhile.
  const auto ended = end_the_dead(left, proof, factory, at_most);
  std::scoped_lock lock(mutex_);
  earlier_ = std::move(left);
  if (auto written = write_locked(); !written) return fail(written.error());
  return ended;
}

Result<void> SessionFile::write_locked() const {
  std::vector<SessionRecord> all = present_;
  all.insert(all.end(), earlier_.begin(), earlier_.end());
  return write_records(path_, all);
}

}  // namespace rota::zk
