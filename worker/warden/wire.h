// What the worker proper and its warden say to each other over the socket pair: one message a packet,
// little-endian fields, every length checked while decoding. A message may grow at its end: a reader
// ignores trailing bytes that it does not know, so that a warden may outlive an upgrade of the proper.
//
//   proper -> warden   Start, Kill, Forget, Vouch, List, Ping
//   warden -> proper   Welcome, Started, Ended, Held, ListEnd, Pong
//
// The life of an attempt here: Start -> Started (with descriptors) -> Ended -> Forget. A start that
// fails goes straight to Ended. The warden holds an ended attempt until Forget, and tells all that it
// holds after List, so that a new life of the proper learns everything that the last one knew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/base/unique_fd.h"

namespace rota::worker::warden {

inline constexpr std::uint16_t kWireVersion = 7;
/// Longest encoded message. Larger than the kernel's own limit on arguments and environment, so that
/// E2BIG comes from exec itself.
inline constexpr std::size_t kMaxMessageBytes = 8u << 20;
/// Messages beyond this travel in a memory file beside the packet.
inline constexpr std::size_t kMaxInlineBytes = 60u << 10;
inline constexpr std::size_t kMaxNoteBytes = 4096;

/// The name of an attempt.
struct AttemptKey {
  RunId run;
  AttemptNo attempt = 0;
  auto operator<=>(const AttemptKey&) const = default;
};

/// How the warden holds what it starts; told in Welcome and shown in `rota worker list`.
enum class Means : std::uint8_t {
  PidNamespace = 1,  ///< the kernel kills everything with the warden, and proves each set empty
  Scan = 2,          ///< subreaper, and scans of /proc by marker, session and descent
  Cgroup = 3,        ///< a cgroup for each attempt, and the subreaper for who left it
};
std::string_view name_of(Means means);  ///< "pid_namespace", "scan", "cgroup"

/// Limits of a job that the kernel holds by itself, with controllers of cgroups.
struct KernelLimits {
  bool memory = false;
  bool processes = false;
  bool cpus = false;
  bool any() const { return memory || processes || cpus; }
  bool operator==(const KernelLimits&) const = default;
};
/// "memory", "processes", "cpus": those that it holds.
std::vector<std::string> names_of(const KernelLimits& limits);

/// One setrlimit. `resource` is RLIMIT_*.
struct Limit {
  std::int32_t resource = 0;
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
  bool operator==(const Limit&) const = default;
};

/// Who a process is to be; none: who the warden is.
struct User {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;
  bool operator==(const User&) const = default;
};

// ---- proper -> warden -------------------------------------------------------------------------

/// Starts an attempt. Refused (Ended with StartStep::Refused) without a valid voucher, with no room,
/// or while stopping. A key that is held already changes nothing: its Started or Ended is told again.
struct Start {
  AttemptKey key;
  std::vector<std::string> argv;         ///< argv[0] is looked up in the PATH of `environment` when it
                                         ///< has no slash
  std::vector<std::string> environment;  ///< "NAME=value"; the warden adds its marker, nothing else
  std::string folder;                    ///< working folder; must exist. Empty: "/"
  std::uint32_t umask = 022;
  std::int32_t nice = 0;                 ///< added to the warden's own
  std::vector<Limit> limits;
  Millis timeout{0};                     ///< from the start; TERM, then KILL after kill_grace. 0: none
  Millis kill_grace{10'000};
  Millis disconnect_grace{0};            ///< lives on for so long after the last voucher
  bool progress = false;                 ///< a third pipe, the job's descriptor 3
  std::string note;                      ///< opaque to the warden, told again in Held; <= 4 KiB
  std::optional<User> user;              ///< since version 2
  // Since version 3: what the kernel is to hold it to, where it can (see cgroup_tree.h); 0: nothing.
  std::int64_t most_memory_bytes = 0;
  std::int64_t most_processes = 0;
  std::int32_t milli_cpus = 0;           ///< since version 4: thousandths of a core
  /// Since version 5. Attempts of one space and one user may be served by one keeper, one after the other;
  /// empty: by none that has served before.
  std::string space;
  /// Since version 7: starts without a voucher. With kNoVoucherNeeded as disconnect_grace it lives without
  /// one: what cleans up behind an attempt must run when nobody vouches any more.
  bool may_start_unvouched = false;
};

/// As Start::disconnect_grace: longer than any worker lives.
inline constexpr Millis kNoVoucherNeeded{std::int64_t{1} << 40};

/// Who asked for the death that an Ended tells.
enum class KilledBy : std::uint8_t {
  None = 0, Timeout = 1, Cancel = 2, Voucher = 3, Stop = 4,
  Memory = 5, Processes = 6, Cpu = 7, Folder = 8,  ///< limits; since version 2
};
inline constexpr KilledBy kLastKilledBy = KilledBy::Folder;
std::string_view name_of(KilledBy by);

/// Ends an attempt: TERM to its whole set now, KILL after `grace` (0: KILL at once). Unknown keys and
/// repeats are harmless; a repeat may only shorten the time that is left.
struct Kill {
  AttemptKey key;
  Millis grace{0};
  KilledBy by = KilledBy::Cancel;
};

/// The proper has the end safe in its outbox: the warden may forget the attempt. Harmless when it
/// runs still (ignored) or is unknown.
struct Forget {
  AttemptKey key;
};

/// The worker's attempts may live until then (CLOCK_BOOTTIME). The later of the proper's two
/// vouchers. May move backwards (a voucher that was withdrawn).
struct Vouch {
  MonoTime until{};
};

/// Asks for everything that the warden holds: a Held each, then ListEnd with this token. What is just
/// starting comes as a Held, too, a moment after the ListEnd.
struct List {
  std::uint64_t token = 0;
};

struct Ping {
  std::uint64_t token = 0;
};

// ---- warden -> proper -------------------------------------------------------------------------

/// The first message to each life of the proper.
struct Welcome {
  std::uint16_t version = kWireVersion;
  Means means = Means::Scan;
  std::uint32_t life = 1;        ///< 1 for the warden's first proper; above: the one before was reaped
  std::int32_t outer_pid = 0;    ///< the proper's pid as the host (the outer warden's namespace) sees it
  std::uint32_t held = 0;        ///< attempts held now
  std::uint32_t room = 0;        ///< most attempts that it will hold
  MonoTime vouched_until{};      ///< as the last life left it; epoch of the clock: never
  KernelLimits kernel_limits;    ///< since version 4; none of them known before
  std::string start;             ///< since version 6: random, the same as long as this warden lives
};

/// Running. Descriptors: pidfd, then the read ends of stdout, stderr and, if asked for, progress. The
/// pidfd is of the process whose SIGKILL ends the whole set (PidNamespace) or of the main one (Scan).
struct Started {
  AttemptKey key;
  std::int32_t pid = 0;     ///< in the warden's namespace; for people
  WallTime started_wall{};
  MonoTime started{};
  UniqueFd pidfd, out, err, progress;
};

/// Where a start failed. `error` is then the errno of that step (0 for Refused).
enum class StartStep : std::uint8_t {
  None = 0,      ///< it started
  Refused = 1,   ///< no voucher, no room or stopping; `detail` says which
  Pipe = 2,
  Fork = 3,
  Limits = 4,
  Nice = 5,
  Folder = 6,
  Exec = 7,      ///< ENOENT, EACCES, ETXTBSY, ENOEXEC, E2BIG ...
  Session = 8,   ///< setsid, descriptors, privileges, own /proc
  User = 9,      ///< setgroups, setgid, setuid
};
inline constexpr StartStep kLastStartStep = StartStep::User;
std::string_view name_of(StartStep step);

/// What stood still when the attempt should have ended without a voucher, and ended late.
enum class Still : std::uint8_t {
  None = 0,
  All = 1,         ///< its keeper, which ends it by itself, did not run either: a host that stood still
  WardenAlone = 2, ///< its keeper ended it in time
  Unknown = 3,     ///< it has no keeper: whether it ran while the warden did not, nobody knows
};
inline constexpr Still kLastStill = Still::Unknown;

/// How an attempt ended. Told once when it ends and again after List, until Forget. If `proven_empty`
/// is false when the warden gives up waiting, it is told once more should the set empty later.
struct Ended {
  AttemptKey key;
  StartStep failed_step = StartStep::None;
  std::int32_t error = 0;        ///< errno of a failed start
  std::string detail;            ///< for people
  std::int32_t exit_status = -1; ///< 0..255 of the main process, or -1
  std::int32_t signal = 0;       ///< that ended the main process, or 0
  bool core = false;
  KilledBy killed_by = KilledBy::None;
  bool term_sent = false;        ///< steps of the ladder that were done
  bool kill_sent = false;
  bool proven_empty = false;     ///< no process of the set is left, and the warden can prove it
  std::int64_t cpu_us = 0;       ///< user + system, all that was waited for in the set
  std::int64_t peak_memory_bytes = 0;  ///< largest resident size of one process; the warden's own
                                       ///< (about 2 MB) is a floor
  std::int64_t read_bytes = 0;         ///< from disks, all that was waited for in the set
  std::int64_t written_bytes = 0;      ///< towards disks
  WallTime started_wall{}, ended_wall{};
  MonoTime started{}, ended{};
  // Since version 2. The steps of the kill ladder; the clock's epoch: not done.
  MonoTime term_at{}, kill_at{};
  MonoTime empty_at{};           ///< when the set was seen empty
  // Last. From the first to the second moment, what should have ended it did not run.
  Still still = Still::None;
  MonoTime still_from{}, still_to{};
};

/// One attempt, in answer to List. Running: descriptors as in Started. Ended: `end` is there; the
/// descriptors of its pipes come too, since there may be bytes that nobody has read.
struct Held {
  Started running;
  std::optional<Ended> end;
  std::string note;
  Millis disconnect_grace{0};
};

struct ListEnd {
  std::uint64_t token = 0;
  std::uint32_t count = 0;
};

struct Pong {
  std::uint64_t token = 0;
  MonoTime now{};
};

using Request = std::variant<Start, Kill, Forget, Vouch, List, Ping>;
using Notice = std::variant<Welcome, Started, Ended, Held, ListEnd, Pong>;

/// Bytes of a message, without its descriptors.
std::string encode(const Request& message);
std::string encode(const Notice& message);

/// The message in these bytes. Corrupt: unknown type, a length beyond the end, a value out of range.
/// `decode_notice` moves the descriptors that it names out of `fds`, in the order in which they are
/// declared; Corrupt when there are fewer than the message says.
Result<Request> decode_request(std::string_view bytes);
Result<Notice> decode_notice(std::string_view bytes, std::vector<UniqueFd> fds);

/// The descriptors that travel beside a notice, in order.
std::vector<int> descriptors_of(const Notice& message);

}  // namespace rota::worker::warden
