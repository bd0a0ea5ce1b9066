#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include <fcntl.h>

#include "worker/warden/wire.h"

namespace rota::worker::warden {
namespace {

const AttemptKey kKey{RunId{1'234'567'890'123}, 3};
// What was appended to an end, version by version.
// What the end of an Ended lacks that an older program wrote: the steps, bytes of disks, who stood still.
constexpr std::size_t kOlderEnds[] = {24 + 16 + 17, 16 + 17, 17};
// And to a start: a user (none: one byte), then what the kernel is to hold it to.
constexpr std::size_t kUserBytes = 1, kBoundBytes = 16, kRateBytes = 4, kSpaceBytes = 4;
constexpr std::size_t kUnvouchedBytes = 1;
/// Where older programs ended a start, counted from the end.
constexpr std::size_t kSinceSpace = kSpaceBytes + kUnvouchedBytes;
constexpr std::size_t kOlderStarts[] = {kUnvouchedBytes, kSinceSpace, kRateBytes + kSinceSpace,
                                        kBoundBytes + kRateBytes + kSinceSpace,
                                        kUserBytes + kBoundBytes + kRateBytes + kSinceSpace};

Start a_start() {
  Start m;
  m.key = kKey;
  m.argv = {"/bin/echo", "", std::string("a\0b", 3)};
  m.environment = {"A=1", "B=\xff"};
  m.folder = "/tmp";
  m.umask = 077;
  m.nice = -5;
  m.limits = {{7, 100, ~0ull}};
  m.timeout = Millis{1500};
  m.kill_grace = Millis{250};
  m.disconnect_grace = std::chrono::hours{24 * 7};
  m.progress = true;
  m.note = "epoch=7";
  return m;
}

Ended an_end() {
  Ended m;
  m.key = kKey;
  m.failed_step = StartStep::Exec;
  m.error = 2;
  m.detail = "not found";
  m.exit_status = 255;
  m.signal = 9;
  m.core = true;
  m.killed_by = KilledBy::Voucher;
  m.term_sent = m.kill_sent = m.proven_empty = true;
  m.cpu_us = 123456;
  m.peak_memory_bytes = std::int64_t{1} << 40;
  m.read_bytes = std::int64_t{1} << 41;
  m.written_bytes = std::int64_t{1} << 42;
  m.still = Still::WardenAlone;
  m.still_from = MonoTime{Micros{77}};
  m.still_to = MonoTime{Micros{1077}};
  m.started_wall = wall_from_ms(1'700'000'000'001);
  m.ended_wall = wall_from_ms(1'700'000'000'002);
  m.started = MonoTime{Micros{5}};
  m.ended = MonoTime{Micros{6}};
  return m;
}

void check_same(const Ended& a, const Ended& b) {
  CHECK(a.key == b.key);
  CHECK(a.failed_step == b.failed_step);
  CHECK(a.error == b.error);
  CHECK(a.detail == b.detail);
  CHECK(a.exit_status == b.exit_status);
  CHECK(a.signal == b.signal);
  CHECK(a.core == b.core);
  CHECK(a.killed_by == b.killed_by);
  CHECK(a.term_sent == b.term_sent);
  CHECK(a.kill_sent == b.kill_sent);
  CHECK(a.proven_empty == b.proven_empty);
  CHECK(a.cpu_us == b.cpu_us);
  CHECK(a.peak_memory_bytes == b.peak_memory_bytes);
  CHECK(a.read_bytes == b.read_bytes);
  CHECK(a.written_bytes == b.written_bytes);
  CHECK(a.still == b.still);
  CHECK(a.still_from == b.still_from);
  CHECK(a.still_to == b.still_to);
  CHECK(a.started_wall == b.started_wall);
  CHECK(a.ended_wall == b.ended_wall);
  CHECK(a.started == b.started);
  CHECK(a.ended == b.ended);
}

/// What comes out of the wire when this goes in.
template <typename T>
T through(const T& message) {
  auto decoded = decode_request(encode(Request{message}));
  REQUIRE(decoded);
  REQUIRE(std::holds_alternative<T>(*decoded));
  return std::get<T>(std::move(*decoded));
}

UniqueFd a_descriptor() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

TEST_CASE("wire: a start comes out as it went in") {
  const Start in = a_start(), out = through(in);
  CHECK(out.key == in.key);
  CHECK(out.argv == in.argv);
  CHECK(out.environment == in.environment);
  CHECK(out.folder == in.folder);
  CHECK(out.umask == in.umask);
  CHECK(out.nice == in.nice);
  CHECK(out.limits == in.limits);
  CHECK(out.timeout == in.timeout);
  CHECK(out.kill_grace == in.kill_grace);
  CHECK(out.disconnect_grace == in.disconnect_grace);
  CHECK(out.progress == in.progress);
  CHECK(out.note == in.note);
}

TEST_CASE("wire: the small requests come out as they went in") {
  CHECK(through(Kill{kKey, Millis{10}, KilledBy::Timeout}).by == KilledBy::Timeout);
  CHECK(through(Kill{kKey, Millis{10}, KilledBy::Timeout}).grace == Millis{10});
  CHECK(through(Forget{kKey}).key == kKey);
  CHECK(through(Vouch{MonoTime{Micros{77}}}).until == MonoTime{Micros{77}});
  CHECK(through(List{42}).token == 42);
  CHECK(through(Ping{43}).token == 43);
}

TEST_CASE("wire: an end comes out as it went in") {
  auto out = decode_notice(encode(Notice{an_end()}), {});
  REQUIRE(out);
  check_same(std::get<Ended>(*out), an_end());
}

TEST_CASE("wire: a held attempt brings its end and its descriptors, each in its place") {
  Held in;
  in.running.key = kKey;
  in.running.pid = 99;
  in.running.out = a_descriptor();
  in.running.progress = a_descriptor();
  in.end = an_end();
  in.note = "n";
  in.disconnect_grace = Millis{9};
  const Notice notice{std::move(in)};
  CHECK(descriptors_of(notice).size() == 2);
  std::vector<UniqueFd> fds;
  fds.push_back(a_descriptor());
  fds.push_back(a_descriptor());
  const int first = fds[0].get(), second = fds[1].get();
  auto decoded = decode_notice(encode(notice), std::move(fds));
  REQUIRE(decoded);
  const Held& out = std::get<Held>(*decoded);
  CHECK(out.running.pid == 99);
  CHECK_FALSE(out.running.pidfd.is_open());
  CHECK(out.running.out.get() == first);
  CHECK_FALSE(out.running.err.is_open());
  CHECK(out.running.progress.get() == second);
  REQUIRE(out.end);
  check_same(*out.end, an_end());
  CHECK(out.note == "n");
  CHECK(out.disconnect_grace == Millis{9});
  CHECK(decode_notice(encode(notice), {}).error().code == ErrorCode::Corrupt);
}

TEST_CASE("wire: a welcome, the end of a list and a pong come out as they went in") {
  Welcome in;
  in.means = Means::PidNamespace;
  in.life = 4;
  in.outer_pid = 1234;
  in.held = 5;
  in.room = 4096;
  in.vouched_until = MonoTime{Micros{8}};
  in.kernel_limits = {true, false, true};
  in.start = "00c0ffee00c0ffee";
  auto welcome = decode_notice(encode(Notice{in}), {});
  REQUIRE(welcome);
  const Welcome& out = std::get<Welcome>(*welcome);
  CHECK(out.version == kWireVersion);
  CHECK(out.means == in.means);
  CHECK(out.life == 4);
  CHECK(out.outer_pid == 1234);
  CHECK(out.held == 5);
  CHECK(out.room == 4096);
  CHECK(out.vouched_until == in.vouched_until);
  CHECK(out.kernel_limits == in.kernel_limits);
  CHECK(out.start == in.start);
  CHECK(names_of(out.kernel_limits) == std::vector<std::string>{"memory", "cpus"});
  auto list = decode_notice(encode(Notice{ListEnd{6, 7}}), {});
  REQUIRE(list);
  CHECK(std::get<ListEnd>(*list).count == 7);
  auto pong = decode_notice(encode(Notice{Pong{8, MonoTime{Micros{9}}}}), {});
  REQUIRE(pong);
  CHECK(std::get<Pong>(*pong).now == MonoTime{Micros{9}});
}

TEST_CASE("wire: a longer message of a newer version is understood") {
  CHECK(decode_request(encode(Request{Ping{1}}) + "something new"));
  CHECK(decode_request(encode(Request{a_start()}) + "something new"));
}

TEST_CASE("wire: every shortened message is refused") {
  const std::string start = encode(Request{a_start()});
  // A message that ends where an older program ended it is whole.
  for (std::size_t size = 0; size < start.size(); ++size) {
    const std::size_t missing = start.size() - size;
    if (std::ranges::count(kOlderStarts, missing) > 0) continue;
    const auto decoded = decode_request(std::string_view(start).substr(0, size));
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == ErrorCode::Corrupt);
  }
  const std::string end = encode(Notice{an_end()});
  for (std::size_t size = 0; size < end.size(); ++size) {
    const std::size_t missing = end.size() - size;
    if (std::ranges::count(kOlderEnds, missing) == 0) {
      CHECK_FALSE(decode_notice(std::string_view(end).substr(0, size), {}));
    }
  }
}

TEST_CASE("wire: what an older program wrote is read with the defaults of what came later") {
  const std::string start = encode(Request{a_start()});
  for (const std::size_t missing : kOlderStarts) {
    const auto older = decode_request(std::string_view(start).substr(0, start.size() - missing));
    REQUIRE(older);
    CHECK_FALSE(std::get<Start>(*older).user);
    CHECK(std::get<Start>(*older).most_memory_bytes == 0);
    CHECK(std::get<Start>(*older).milli_cpus == 0);
  }
  Welcome all;
  all.kernel_limits = {true, true, true};
  all.start = "0123";
  const std::string welcome = encode(Notice{all});
  const std::size_t start_bytes = 4 + all.start.size();
  const auto older = decode_notice(std::string_view(welcome).substr(0, welcome.size() - start_bytes), {});
  REQUIRE(older);
  CHECK(std::get<Welcome>(*older).start.empty());
  CHECK(std::get<Welcome>(*older).kernel_limits.any());
  const auto oldest_welcome = decode_notice(std::string_view(welcome).substr(0, welcome.size() - start_bytes - 1), {});
  REQUIRE(oldest_welcome);
  CHECK_FALSE(std::get<Welcome>(*oldest_welcome).kernel_limits.any());
  const std::string end = encode(Notice{an_end()});
  const auto oldest =
      decode_notice(std::string_view(end).substr(0, end.size() - kOlderEnds[0]), {});
  REQUIRE(oldest);
  CHECK(std::get<Ended>(*oldest).kill_at == MonoTime{});
  CHECK(std::get<Ended>(*oldest).exit_status == an_end().exit_status);
  const auto old = decode_notice(std::string_view(end).substr(0, end.size() - kOlderEnds[1]), {});
  REQUIRE(old);
  CHECK(std::get<Ended>(*old).read_bytes == 0);
  const auto last = decode_notice(std::string_view(end).substr(0, end.size() - kOlderEnds[2]), {});
  REQUIRE(last);
  CHECK(std::get<Ended>(*last).read_bytes == an_end().read_bytes);
  CHECK(std::get<Ended>(*last).still == Still::None);
}

TEST_CASE("wire: a user and the steps of the kill ladder come out as they went in") {
  Start in = a_start();
  in.user = User{1000, 1001, {4, 5, 6}};
  CHECK(through(in).user == in.user);
  in.most_memory_bytes = std::int64_t{1} << 40;
  in.most_processes = 77;
  CHECK(through(in).most_memory_bytes == in.most_memory_bytes);
  CHECK(through(in).most_processes == 77);
  in.milli_cpus = 1500;
  CHECK(through(in).milli_cpus == 1500);
  in.milli_cpus = -1;
  CHECK(through(in).milli_cpus == 0);
  CHECK(through(Kill{kKey, Millis{10}, KilledBy::Folder}).by == KilledBy::Folder);
  Ended end = an_end();
  end.term_at = MonoTime{Micros{1}};
  end.kill_at = MonoTime{Micros{2}};
  end.empty_at = MonoTime{Micros{3}};
  Held held;
  held.end = end;
  const auto read = decode_notice(encode(Notice{std::move(held)}), {});
  REQUIRE(read);
  const Ended& out = *std::get<Held>(*read).end;
  CHECK(out.term_at == end.term_at);
  CHECK(out.kill_at == end.kill_at);
  CHECK(out.empty_at == end.empty_at);
}

TEST_CASE("wire: a length that lies asks for no memory") {
  std::string start = encode(Request{a_start()});
  for (std::size_t i = 13; i < 17; ++i) start[i] = '\xff';  // the count of arguments
  CHECK_FALSE(decode_request(start));
}

TEST_CASE("wire: durations and moments beyond all bounds are cut, so that no sum overflows") {
  Start m = a_start();
  m.timeout = Millis::max();
  m.disconnect_grace = Millis::min();
  const Start out = through(m);
  CHECK(out.timeout > std::chrono::hours{24 * 365 * 30});
  CHECK(out.disconnect_grace == Millis{0});
  CHECK(through(Vouch{MonoTime::max()}).until + out.timeout > MonoTime{});
}

TEST_CASE("wire: 20,000 seeded pieces of garbage are decoded or refused, nothing else") {
  std::mt19937_64 dice(7);
  const std::string seeds[] = {encode(Request{a_start()}), encode(Notice{an_end()}),
                               encode(Request{Kill{kKey, Millis{1}, KilledBy::Stop}})};
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = seeds[dice() % 3];
    for (int change = 0; change < 3; ++change) {
      bytes[dice() % bytes.size()] = static_cast<char>(dice());
    }
    bytes.resize(dice() % (bytes.size() + 1));
    refused += !decode_request(bytes) && !decode_notice(bytes, {});
  }
  CHECK(refused > 10'000);
}

}  // namespace
}  // namespace rota::worker::warden
