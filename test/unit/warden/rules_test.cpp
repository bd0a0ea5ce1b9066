#include <unistd.h>

#include <doctest/doctest.h>

#include "worker/warden/process_scan.h"
#include "worker/warden/restart_rules.h"
#include "worker/warden/set_scanner.h"
#include "worker/warden/warden_options.h"

namespace rota::worker::warden {
namespace {

TEST_CASE("restart: at once first, then later and later, never beyond 5 s") {
  CHECK(restart_delay(0, true) == Millis{0});
  CHECK(restart_delay(3, true) == Millis{0});
  CHECK(restart_delay(4, true) == Millis{100});
  CHECK(restart_delay(5, true) == Millis{200});
  CHECK(restart_delay(9, true) == Millis{3200});
  CHECK(restart_delay(10, true) == Millis{5000});
  CHECK(restart_delay(1000, true) == Millis{5000});
  CHECK(restart_delay(4, false) == Millis{100});
  CHECK(restart_delay(1000, false) == Millis{200});
}

TEST_CASE("restart: only 0 and 2 are deliberate ends") {
  CHECK(is_deliberate(0));
  CHECK(is_deliberate(2));
  CHECK_FALSE(is_deliberate(1));
  CHECK_FALSE(is_deliberate(70));
}

TEST_CASE("options: reads all, in any order, up to the worker's own command") {
  const auto options = parse_options(
      {"--state-dir", "/s", "--means", "scan", "--max-attempts", "7", "--", "w", "--means", "x"});
  REQUIRE(options);
  CHECK(options->means == WardenOptions::MeansChoice::Scan);
  CHECK(options->state_dir == "/s");
  CHECK(options->max_attempts == 7);
  CHECK(options->proper == std::vector<std::string>{"w", "--means", "x"});
}

TEST_CASE("options: names what is wrong") {
  CHECK(parse_options({}).error().message.find("after --") != std::string::npos);
  CHECK(parse_options({"--means", "sideways", "--", "w"}).error().message.find("sideways") !=
        std::string::npos);
  CHECK(parse_options({"--max-attempts", "12x", "--", "w"}).error().message.find("12x") !=
        std::string::npos);
  CHECK(parse_options({"--state-dir"}).error().message.find("value") != std::string::npos);
  CHECK(parse_options({"--what", "x", "--", "w"}).error().message.find("--what") != std::string::npos);
  CHECK(parse_options({"--sweep", "/s"})->sweep_dir == "/s");
}

TEST_CASE("marker: one state folder has one token, however its path is written") {
  char here[4096];
  REQUIRE(::getcwd(here, sizeof here) != nullptr);
  CHECK(state_token("/var/lib/rota") == state_token("/var//lib/./x/../rota/"));
  CHECK(state_token("state") == state_token(std::string(here) + "/state"));
  CHECK(state_token("/a") != state_token("/b"));
  CHECK(mark_of("t", AttemptKey{RunId{5}, 2}) == "t.5.2");
}

TEST_CASE("scan: sees this very process") {
  const auto me = look_at(::getpid());
  REQUIRE(me);
  CHECK(me->parent == ::getppid());
  CHECK(me->session == ::getsid(0));
  CHECK_FALSE(me->is_dead);
  CHECK_FALSE(look_at(0x7ffffff0));
}

// Pids of these tests are far above any real one, so that no marker or pipe is ever found in /proc.
constexpr pid_t kBase = 500'000'000;
constexpr pid_t kWarden = kBase, kProper = kBase + 1;

SeenProcess process(pid_t pid, pid_t parent, pid_t session, std::uint64_t start) {
  return SeenProcess{{kBase + pid, start}, kBase + parent, kBase + session, false};
}

SetScanner::Target target(pid_t pid, std::uint64_t start) {
  return SetScanner::Target{{kBase + pid, start}, "", {}, false};
}

std::vector<pid_t> pids(const SetScanner::Found& found, std::uint64_t serial) {
  std::vector<pid_t> out;
  const auto members = found.members.find(serial);
  if (members == found.members.end()) return out;
  for (const auto& member : members->second) out.push_back(member.pid - kBase);
  std::sort(out.begin(), out.end());
  return out;
}

TEST_CASE("sets: by session and by descent, never the proper's and never a foreigner") {
  SetScanner scanner;
  scanner.add(1, target(10, 100));
  scanner.add(2, target(20, 200));
  const auto found = scanner.attribute(
      {process(1, 0, 0, 1), process(2, 1, 1, 300),               // the proper and its child
       process(10, 0, 10, 100), process(11, 10, 11, 101),        // a child in its own session
       process(20, 0, 20, 200), process(21, 0, 20, 201),         // an orphan in the session
       process(30, 31, 10, 400)},                                // not below the warden
      kWarden, kProper);
  CHECK(pids(found, 1) == std::vector<pid_t>{10, 11});
  CHECK(pids(found, 2) == std::vector<pid_t>{20, 21});
  CHECK(found.in_doubt.empty());
}

TEST_CASE("sets: a process stays with its set when its parent and session are gone") {
  SetScanner scanner;
  scanner.add(1, target(10, 100));
  scanner.add(2, target(20, 100));
  scanner.attribute({process(10, 0, 10, 100), process(11, 10, 11, 101), process(20, 0, 20, 100)},
                    kWarden, kProper);
  const auto found =
      scanner.attribute({process(11, 0, 11, 101), process(20, 0, 20, 100)}, kWarden, kProper);
  CHECK(pids(found, 1) == std::vector<pid_t>{11});
  // The same pid with another start time is another process.
  const auto other =
      scanner.attribute({process(11, 0, 11, 999), process(20, 0, 20, 100)}, kWarden, kProper);
  CHECK(pids(other, 1).empty());
  CHECK(other.in_doubt.size() == 2);
}

TEST_CASE("sets: a stray puts in doubt only those who can own it, and dies when all of them end") {
  SetScanner scanner;
  scanner.add(1, target(10, 100));
  scanner.add(2, target(20, 500));
  scanner.add(3, target(30, 100));
  const std::vector<SeenProcess> all{process(99, 0, 99, 300)};
  CHECK(scanner.attribute(all, kWarden, kProper).in_doubt == std::set<std::uint64_t>{1, 3});
  scanner.set_ending(1);
  CHECK(scanner.attribute(all, kWarden, kProper).in_doubt == std::set<std::uint64_t>{1, 3});
  scanner.set_ending(3);
  const auto found = scanner.attribute(all, kWarden, kProper);
  CHECK(found.in_doubt.empty());
  CHECK(pids(found, 1) == std::vector<pid_t>{99});
}

TEST_CASE("sets: the dead do not count") {
  SetScanner scanner;
  scanner.add(1, target(10, 100));
  SeenProcess zombie = process(10, 0, 10, 100);
  zombie.is_dead = true;
  CHECK(pids(scanner.attribute({zombie}, kWarden, kProper), 1).empty());
}

}  // namespace
}  // namespace rota::worker::warden
