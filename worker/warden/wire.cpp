#include "worker/warden/wire.h"

#include <algorithm>

#include "worker/warden/codec.h"

namespace rota::worker::warden {

namespace {

enum class Type : std::uint8_t {
  Start = 1, Kill, Forget, Vouch, List, Ping,
  Welcome = 65, Started, Ended, Held, ListEnd, Pong,
};

// Longer durations and later moments mean "forever"; with this bound no sum overflows.
constexpr std::int64_t kLongest = std::int64_t{1} << 50;

// Bits that say which descriptors travel with a Started.
constexpr std::uint8_t kHasPidfd = 1, kHasOut = 2, kHasErr = 4, kHasProgress = 8;
// Bits that say in a Welcome what the kernel holds.
constexpr std::uint8_t kHoldsMemory = 1, kHoldsProcesses = 2, kHoldsCpus = 4;

void put(ByteWriter& w, const AttemptKey& key) {
  w.number(key.run.value);
  w.number(key.attempt);
}
AttemptKey get_key(ByteReader& r) {
  AttemptKey key;
  key.run.value = r.number<std::int64_t>();
  key.attempt = r.number<AttemptNo>();
  return key;
}

void put(ByteWriter& w, Millis duration) { w.number<std::int64_t>(duration.count()); }
Millis get_duration(ByteReader& r) {
  return Millis{std::clamp<std::int64_t>(r.number<std::int64_t>(), 0, kLongest / 1000)};
}

void put(ByteWriter& w, MonoTime time) { w.number<std::int64_t>(time.time_since_epoch().count()); }
MonoTime get_mono(ByteReader& r) {
  return MonoTime{Micros{std::clamp<std::int64_t>(r.number<std::int64_t>(), 0, kLongest)}};
}

void put(ByteWriter& w, WallTime time) { w.number<std::int64_t>(to_ms(time)); }
WallTime get_wall(ByteReader& r) { return wall_from_ms(r.number<std::int64_t>()); }

void put(ByteWriter& w, const std::vector<std::string>& list) {
  w.number(static_cast<std::uint32_t>(list.size()));
  for (const std::string& item : list) w.text(item);
}
std::vector<std::string> get_list(ByteReader& r) {
  std::vector<std::string> list(r.count(4));
  for (std::string& item : list) item = r.text(kMaxMessageBytes);
  return list;
}

void put(ByteWriter& w, const std::vector<Limit>& limits) {
  w.number(static_cast<std::uint32_t>(limits.size()));
  for (const Limit& limit : limits) {
    w.number(limit.resource);
    w.number(limit.soft);
    w.number(limit.hard);
  }
}
std::vector<Limit> get_limits(ByteReader& r) {
  std::vector<Limit> limits(r.count(20));
  for (Limit& limit : limits) {
    limit.resource = r.number<std::int32_t>();
    limit.soft = r.number<std::uint64_t>();
    limit.hard = r.number<std::uint64_t>();
  }
  return limits;
}

void put(ByteWriter& w, const std::optional<User>& user) {
  w.number<std::uint8_t>(user.has_value());
  if (!user) return;
  w.number(user->uid);
  w.number(user->gid);
  w.number(static_cast<std::uint32_t>(user->groups.size()));
  for (const std::uint32_t group : user->groups) w.number(group);
}
std::optional<User> get_user(ByteReader& r) {
  if (!r.flag()) return std::nullopt;
  User user;
  user.uid = r.number<std::uint32_t>();
  user.gid = r.number<std::uint32_t>();
  user.groups.resize(r.count(4));
  for (std::uint32_t& group : user.groups) group = r.number<std::uint32_t>();
  return user;
}

void put(ByteWriter& w, const Start& m) {
  w.number(Type::Start);
  put(w, m.key);
  put(w, m.argv);
  put(w, m.environment);
  w.text(m.folder);
  w.number(m.umask);
  w.number(m.nice);
  put(w, m.limits);
  put(w, m.timeout);
  put(w, m.kill_grace);
  put(w, m.disconnect_grace);
  w.number<std::uint8_t>(m.progress);
  w.text(m.note);
  put(w, m.user);
  w.number(m.most_memory_bytes);
  w.number(m.most_processes);
  w.number(m.milli_cpus);
  w.text(m.space);
  w.number<std::uint8_t>(m.may_start_unvouched);
}
Start get_start(ByteReader& r) {
  Start m;
  m.key = get_key(r);
  m.argv = get_list(r);
  m.environment = get_list(r);
  m.folder = r.text(kMaxMessageBytes);
  m.umask = r.number<std::uint32_t>();
  m.nice = r.number<std::int32_t>();
  m.limits = get_limits(r);
  m.timeout = get_duration(r);
  m.kill_grace = get_duration(r);
  m.disconnect_grace = get_duration(r);
  m.progress = r.flag();
  m.note = r.text(kMaxNoteBytes);
  if (r.has_more()) m.user = get_user(r);
  if (r.has_more()) {
    m.most_memory_bytes = std::max<std::int64_t>(r.number<std::int64_t>(), 0);
    m.most_processes = std::max<std::int64_t>(r.number<std::int64_t>(), 0);
  }
  if (r.has_more()) m.milli_cpus = std::max(r.number<std::int32_t>(), 0);
  if (r.has_more()) m.space = r.text(kMaxMessageBytes);
  if (r.has_more()) m.may_start_unvouched = r.flag();
  return m;
}

void put(ByteWriter& w, const Kill& m) {
  w.number(Type::Kill);
  put(w, m.key);
  put(w, m.grace);
  w.number(m.by);
}
Kill get_kill(ByteReader& r) {
  Kill m;
  m.key = get_key(r);
  m.grace = get_duration(r);
  m.by = r.named(kLastKilledBy);
  return m;
}

void put(ByteWriter& w, const Forget& m) {
  w.number(Type::Forget);
  put(w, m.key);
}
void put(ByteWriter& w, const Vouch& m) {
  w.number(Type::Vouch);
  put(w, m.until);
}
void put(ByteWriter& w, const List& m) {
  w.number(Type::List);
  w.number(m.token);
}
void put(ByteWriter& w, const Ping& m) {
  w.number(Type::Ping);
  w.number(m.token);
}

void put(ByteWriter& w, const KernelLimits& limits) {
  w.number(static_cast<std::uint8_t>((limits.memory ? kHoldsMemory : 0) |
                                     (limits.processes ? kHoldsProcesses : 0) |
                                     (limits.cpus ? kHoldsCpus : 0)));
}
KernelLimits get_kernel_limits(ByteReader& r) {
  const auto bits = r.number<std::uint8_t>();
  return {(bits & kHoldsMemory) != 0, (bits & kHoldsProcesses) != 0, (bits & kHoldsCpus) != 0};
}

void put(ByteWriter& w, const Welcome& m) {
  w.number(Type::Welcome);
  w.number(m.version);
  w.number(m.means);
  w.number(m.life);
  w.number(m.outer_pid);
  w.number(m.held);
  w.number(m.room);
  put(w, m.vouched_until);
  put(w, m.kernel_limits);
  w.text(m.start);
}
Welcome get_welcome(ByteReader& r) {
  Welcome m;
  m.version = r.number<std::uint16_t>();
  m.means = r.named(Means::Cgroup);
  m.life = r.number<std::uint32_t>();
  m.outer_pid = r.number<std::int32_t>();
  m.held = r.number<std::uint32_t>();
  m.room = r.number<std::uint32_t>();
  m.vouched_until = get_mono(r);
  if (r.has_more()) m.kernel_limits = get_kernel_limits(r);
  if (r.has_more()) m.start = r.text(kMaxNoteBytes);
  return m;
}

std::uint8_t descriptor_bits(const Started& m) {
  return static_cast<std::uint8_t>((m.pidfd.is_open() ? kHasPidfd : 0) |
                                   (m.out.is_open() ? kHasOut : 0) |
                                   (m.err.is_open() ? kHasErr : 0) |
                                   (m.progress.is_open() ? kHasProgress : 0));
}

void put_started(ByteWriter& w, const Started& m) {
  put(w, m.key);
  w.number(m.pid);
  put(w, m.started_wall);
  put(w, m.started);
  w.number(descriptor_bits(m));
}

/// Gives the descriptors that a message names, in their order.
class DescriptorSource {
 public:
  explicit DescriptorSource(std::vector<UniqueFd> fds) : fds_(std::move(fds)) {}
  UniqueFd next() {
    if (next_ < fds_.size()) return std::move(fds_[next_++]);
    missing_ = true;
    return UniqueFd{};
  }
  bool missing() const { return missing_; }

 private:
  std::vector<UniqueFd> fds_;
  std::size_t next_ = 0;
  bool missing_ = false;
};

Started get_started(ByteReader& r, DescriptorSource& fds) {
  Started m;
  m.key = get_key(r);
  m.pid = r.number<std::int32_t>();
  m.started_wall = get_wall(r);
  m.started = get_mono(r);
  const auto bits = r.number<std::uint8_t>();
  if (bits & kHasPidfd) m.pidfd = fds.next();
  if (bits & kHasOut) m.out = fds.next();
  if (bits & kHasErr) m.err = fds.next();
  if (bits & kHasProgress) m.progress = fds.next();
  return m;
}

void put_ended(ByteWriter& w, const Ended& m) {
  put(w, m.key);
  w.number(m.failed_step);
  w.number(m.error);
  w.text(m.detail);
  w.number(m.exit_status);
  w.number(m.signal);
  w.number<std::uint8_t>(m.core);
  w.number(m.killed_by);
  w.number<std::uint8_t>(m.term_sent);
  w.number<std::uint8_t>(m.kill_sent);
  w.number<std::uint8_t>(m.proven_empty);
  w.number(m.cpu_us);
  w.number(m.peak_memory_bytes);
  put(w, m.started_wall);
  put(w, m.ended_wall);
  put(w, m.started);
  put(w, m.ended);
}
Ended get_ended(ByteReader& r) {
  Ended m;
  m.key = get_key(r);
  m.failed_step = r.named(kLastStartStep);
  m.error = r.number<std::int32_t>();
  m.detail = r.text(kMaxNoteBytes);
  m.exit_status = r.number<std::int32_t>();
  m.signal = r.number<std::int32_t>();
  m.core = r.flag();
  m.killed_by = r.named(kLastKilledBy);
  m.term_sent = r.flag();
  m.kill_sent = r.flag();
  m.proven_empty = r.flag();
  m.cpu_us = r.number<std::int64_t>();
  m.peak_memory_bytes = r.number<std::int64_t>();
  m.started_wall = get_wall(r);
  m.ended_wall = get_wall(r);
  m.started = get_mono(r);
  m.ended = get_mono(r);
  return m;
}

void put(ByteWriter& w, const Started& m) {
  w.number(Type::Started);
  put_started(w, m);
}
/// What was added to Ended: behind everything else of its message, since an older writer has none of
/// it and an older reader ignores it.
void put_steps(ByteWriter& w, const Ended& m) {
  put(w, m.term_at);
  put(w, m.kill_at);
  put(w, m.empty_at);
  w.number(m.read_bytes);
  w.number(m.written_bytes);
  w.number(m.still);
  put(w, m.still_from);
  put(w, m.still_to);
}
void get_steps(ByteReader& r, Ended& m) {
  if (!r.has_more()) return;
  m.term_at = get_mono(r);
  m.kill_at = get_mono(r);
  m.empty_at = get_mono(r);
  if (!r.has_more()) return;
  m.read_bytes = r.number<std::int64_t>();
  m.written_bytes = r.number<std::int64_t>();
  if (!r.has_more()) return;
  m.still = r.named(kLastStill);
  m.still_from = get_mono(r);
  m.still_to = get_mono(r);
}

void put(ByteWriter& w, const Ended& m) {
  w.number(Type::Ended);
  put_ended(w, m);
  put_steps(w, m);
}
Ended get_told_end(ByteReader& r) {
  Ended m = get_ended(r);
  get_steps(r, m);
  return m;
}
void put(ByteWriter& w, const Held& m) {
  w.number(Type::Held);
  put_started(w, m.running);
  w.number<std::uint8_t>(m.end.has_value());
  if (m.end) put_ended(w, *m.end);
  w.text(m.note);
  put(w, m.disconnect_grace);
  if (m.end) put_steps(w, *m.end);
}
Held get_held(ByteReader& r, DescriptorSource& fds) {
  Held m;
  m.running = get_started(r, fds);
  if (r.flag()) m.end = get_ended(r);
  m.note = r.text(kMaxNoteBytes);
  m.disconnect_grace = get_duration(r);
  if (m.end) get_steps(r, *m.end);
  return m;
}
void put(ByteWriter& w, const ListEnd& m) {
  w.number(Type::ListEnd);
  w.number(m.token);
  w.number(m.count);
}
void put(ByteWriter& w, const Pong& m) {
  w.number(Type::Pong);
  w.number(m.token);
  put(w, m.now);
}

template <typename Message>
std::string encode_any(const Message& message) {
  ByteWriter w;
  std::visit([&](const auto& m) { put(w, m); }, message);
  return w.finish();
}

Result<Request> request_of(Type type, ByteReader& r) {
  switch (type) {
    case Type::Start: return Request{get_start(r)};
    case Type::Kill: return Request{get_kill(r)};
    case Type::Forget: return Request{Forget{get_key(r)}};
    case Type::Vouch: return Request{Vouch{get_mono(r)}};
    case Type::List: return Request{List{r.number<std::uint64_t>()}};
    case Type::Ping: return Request{Ping{r.number<std::uint64_t>()}};
    default: return fail(ErrorCode::Corrupt, "a request of a type that is not known");
  }
}

Result<Notice> notice_of(Type type, ByteReader& r, DescriptorSource& fds) {
  switch (type) {
    case Type::Welcome: return Notice{get_welcome(r)};
    case Type::Started: return Notice{get_started(r, fds)};
    case Type::Ended: return Notice{get_told_end(r)};
    case Type::Held: return Notice{get_held(r, fds)};
    case Type::ListEnd: {
      const auto token = r.number<std::uint64_t>();
      return Notice{ListEnd{token, r.number<std::uint32_t>()}};
    }
    case Type::Pong: {
      const auto token = r.number<std::uint64_t>();
      return Notice{Pong{token, get_mono(r)}};
    }
    default: return fail(ErrorCode::Corrupt, "a notice of a type that is not known");
  }
}

void add_descriptors(const Started& m, std::vector<int>& out) {
  for (const UniqueFd* fd : {&m.pidfd, &m.out, &m.err, &m.progress}) {
    if (fd->is_open()) out.push_back(fd->get());
  }
}

}  // namespace

std::string_view name_of(Means means) {
  if (means == Means::PidNamespace) return "pid_namespace";
  return means == Means::Cgroup ? "cgroup" : "scan";
}

std::vector<std::string> names_of(const KernelLimits& limits) {
  std::vector<std::string> names;
  if (limits.memory) names.emplace_back("memory");
  if (limits.processes) names.emplace_back("processes");
  if (limits.cpus) names.emplace_back("cpus");
  return names;
}

std::string_view name_of(KilledBy by) {
  static constexpr std::string_view kNames[] = {"none", "timeout", "cancel", "voucher", "stop",
                                                "memory", "processes", "cpu", "folder"};
  return kNames[static_cast<std::size_t>(by)];
}

std::string_view name_of(StartStep step) {
  static constexpr std::string_view kNames[] = {"none",   "refused", "pipe",   "fork",   "limits",
                                                "nice",   "folder",  "exec",   "session", "user"};
  return kNames[static_cast<std::size_t>(step)];
}

std::string encode(const Request& message) { return encode_any(message); }
std::string encode(const Notice& message) { return encode_any(message); }

Result<Request> decode_request(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto type = static_cast<Type>(reader.number<std::uint8_t>());
  Result<Request> request = request_of(type, reader);
  if (request && !reader.ok()) return fail(ErrorCode::Corrupt, "a request that contradicts itself");
  return request;
}

Result<Notice> decode_notice(std::string_view bytes, std::vector<UniqueFd> fds) {
  ByteReader reader(bytes);
  DescriptorSource source(std::move(fds));
  const auto type = static_cast<Type>(reader.number<std::uint8_t>());
  Result<Notice> notice = notice_of(type, reader, source);
  if (notice && !reader.ok()) return fail(ErrorCode::Corrupt, "a notice that contradicts itself");
  if (notice && source.missing()) return fail(ErrorCode::Corrupt, "descriptors did not come along");
  return notice;
}

std::vector<int> descriptors_of(const Notice& message) {
  std::vector<int> out;
  if (const auto* started = std::get_if<Started>(&message)) add_descriptors(*started, out);
  if (const auto* held = std::get_if<Held>(&message)) add_descriptors(held->running, out);
  return out;
}

}  // namespace rota::worker::warden
