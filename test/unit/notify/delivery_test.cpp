// Both ways out, with real processes and loopback sockets: what accepts, what refuses, and what hangs.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/unique_fd.h"
#include "master/notify/delivery.h"
#include "test/support/patience.h"

using namespace rota;
using namespace rota::master::notify;

namespace {

constexpr Millis kPatient = std::chrono::duration_cast<Millis>(rota::testing::kPatience);

/// As rota-master does.
const bool kIgnoresPipes = ::signal(SIGPIPE, SIG_IGN) != SIG_ERR;

Result<std::string> command(const std::string& script, Millis timeout = kPatient,
                            const std::string& text = "{}") {
  return command_route({"/bin/sh", "-c", script})->deliver(text, timeout, {});
}

struct Listener {
  UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  Listener() {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/"; }
};

}  // namespace

TEST_CASE("delivery: a command gets the text as its standard input, and exit status 0 accepts it") {
  const auto path = std::filesystem::temp_directory_path() / ("rota-told-" + std::to_string(::getpid()));
  std::string text(200'000, 'x');
  const auto answer = command("cat > " + path.string() + "; echo heard >&2", kPatient, text);
  REQUIRE_MESSAGE(answer, answer.error().message);
  CHECK(*answer == "/bin/sh: exit status 0: heard");
  std::stringstream read;
  read << std::ifstream(path).rdbuf();
  CHECK(read.str() == text);
  std::filesystem::remove(path);
}

TEST_CASE("delivery: a command that fails, is not there, or does not read says so") {
  REQUIRE(kIgnoresPipes);
  const auto failed = command("echo no such user >&2; exit 3");
  REQUIRE(!failed);
  CHECK(failed.error().message == "/bin/sh: exit status 3: no such user");
  const auto absent = command_route({"/nowhere/at/all"})->deliver("{}", kPatient, {});
  REQUIRE(!absent);
  CHECK(absent.error().message.starts_with("cannot start /nowhere/at/all: "));
  CHECK(command("exit 0", kPatient, std::string(1'000'000, 'x')));
  CHECK(command("kill -9 $$").error().message == "/bin/sh: ended by signal 9");
}

TEST_CASE("delivery: a command that hangs is killed with all that it started") {
  const auto path = std::filesystem::temp_directory_path() / ("rota-child-" + std::to_string(::getpid()));
  const auto hung = command("sleep 1000 & echo $! > " + path.string() + "; wait", Millis{1500});
  REQUIRE(!hung);
  CHECK(hung.error().code == ErrorCode::TimedOut);
  pid_t child = 0;
  std::ifstream(path) >> child;
  std::filesystem::remove(path);
  if (child <= 0) return;  // the machine stood still: it had not begun
  const auto deadline = BootClock::now() + kPatient;
  std::string state;
  while (BootClock::now() < deadline) {  // what is left waits for its new parent to take note
    std::ifstream status("/proc/" + std::to_string(child) + "/stat");
    std::string pid, name;
    if (!(status >> pid >> name >> state) || state == "Z") break;
  }
  CHECK((state.empty() || state == "Z"));
}

TEST_CASE("delivery: what a command leaves behind is killed when it has ended") {
  const auto answer = command("sleep 1000 2>&1 & exit 0");
  CHECK(answer);
}

TEST_CASE("delivery: a port that refuses and a server that never answers are told apart") {
  Listener nobody;  // bound, not listening
  const auto refused = http_route(nobody.url())->deliver("{}", kPatient, {});
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::Unavailable);
  Listener silent;
  REQUIRE(::listen(silent.fd.get(), 1) == 0);
  const auto hung = http_route(silent.url())->deliver("{}", Millis{200}, {});
  REQUIRE(!hung);
  CHECK(hung.error().code == ErrorCode::TimedOut);
}
