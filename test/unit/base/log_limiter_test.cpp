#include "common/base/log_limiter.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace std::chrono_literals;

namespace {

LogRecord a_line(Severity level, const std::string& sentence, int number = 0) {
  return {wall_from_ms(1000 + number), level, "rota-test", "term", sentence, {{"n", std::to_string(number), true}}};
}

struct Log {
  LogLimiter limiter{LogLimits{3, 10'000ms, 100}};
  MonoTime now{1000s};
  int written = 0;

  bool say(const LogRecord& line) {
    const bool is_written = limiter.admits(line, now);
    written += is_written ? 1 : 0;
    return is_written;
  }
  std::vector<std::string> due() {
    std::vector<std::string> out;
    for (const LogRecord& line : limiter.due(now)) out.push_back(text_line(line).substr(25));
    return out;
  }
};

}  // namespace

TEST_CASE("log limiter: a warning five times a second is rarely written, and always counted") {
  Log log;
  int told = 0;
  for (int i = 0; i < 300; ++i) {  // a minute
    log.say(a_line(Severity::Warn, "could not take office", i));
    log.now += 200ms;
    told += static_cast<int>(log.due().size());
  }
  CHECK(log.written == 3);
  CHECK(told == 6);
}

TEST_CASE("log limiter: the last one is written when the window ends, with the count") {
  Log log;
  for (int i = 0; i < 5; ++i) log.say(a_line(Severity::Error, "failed", i));
  log.now += 9999ms;
  CHECK(log.due().empty());
  log.now += 1ms;
  CHECK(log.due() == std::vector<std::string>{"ERROR rota-test term: failed n=4 repeated=2"});
  CHECK_FALSE(log.limiter.holds_any());
  CHECK(log.due().empty());
}

TEST_CASE("log limiter: a kind that continues gets one line per window, one that paused starts again") {
  Log log;
  for (int i = 0; i < 4; ++i) log.say(a_line(Severity::Warn, "x"));
  log.now += 10s;
  CHECK(log.due().size() == 1);
  log.now += 1s;
  CHECK_FALSE(log.say(a_line(Severity::Warn, "x")));
  log.now += 9s;
  CHECK(log.due().size() == 1);
  log.now += 10s;
  CHECK(log.say(a_line(Severity::Warn, "x")));
}

TEST_CASE("log limiter: warnings differ by channel, level and sentence, lines of level info also by keys") {
  Log log;
  for (int i = 0; i < 20; ++i) CHECK(log.say(a_line(Severity::Info, "registered", i)));
  for (int i = 0; i < 20; ++i) CHECK(log.say(a_line(Severity::Debug, "trace")));
  for (int i = 0; i < 3; ++i) CHECK(log.say(a_line(Severity::Warn, "a", i)));
  CHECK_FALSE(log.say(a_line(Severity::Warn, "a", 77)));
  CHECK(log.say(a_line(Severity::Error, "a")));
  CHECK(log.say(a_line(Severity::Warn, "b")));
  LogRecord other = a_line(Severity::Warn, "a");
  other.channel = "store";
  CHECK(log.say(other));
}

TEST_CASE("log limiter: no change of a state is lost, and kept lines keep their order") {
  Log log;
  for (int i = 0; i < 5; ++i) {
    log.say(a_line(Severity::Info, "connected"));
    log.say(a_line(Severity::Info, "connection lost"));
  }
  log.now += 10s;
  CHECK(log.due() == std::vector<std::string>{"INFO  rota-test term: connected n=0 repeated=2",
                                              "INFO  rota-test term: connection lost n=0 repeated=2"});
}

TEST_CASE("log limiter: at the end all kept lines are written") {
  Log log;
  for (int i = 0; i < 4; ++i) log.say(a_line(Severity::Warn, "x", i));
  CHECK(log.limiter.rest().size() == 1);
  CHECK(log.limiter.rest().empty());
}

TEST_CASE("log limiter: remembers a bounded number of lines of level info, and writes the others") {
  Log log;
  for (int i = 0; i < 1000; ++i) CHECK(log.say(a_line(Severity::Info, "run", i)));
  for (int i = 0; i < 5; ++i) CHECK(log.say(a_line(Severity::Info, "new")));
  for (int i = 0; i < 3; ++i) CHECK(log.say(a_line(Severity::Warn, "a warning is limited all the same")));
  CHECK_FALSE(log.say(a_line(Severity::Warn, "a warning is limited all the same")));
  log.now += 10s;
  for (int i = 0; i < 3; ++i) CHECK(log.say(a_line(Severity::Info, "new")));
  CHECK_FALSE(log.say(a_line(Severity::Info, "new")));
}

TEST_CASE("log limiter: lines of log_one_of_many are limited by their sentence, with any keys") {
  Log log;
  for (int i = 0; i < 1000; ++i) {
    LogRecord line = a_line(Severity::Info, "job created", i);
    line.is_one_of_many = true;
    log.say(line);
  }
  CHECK(log.written == 3);
  CHECK(log.say(a_line(Severity::Info, "job created", 5)));  // another kind of line, with keys of its own
  log.now += 10s;
  const auto due = log.due();
  REQUIRE(due.size() == 1);
  CHECK(due[0].find("repeated=997") != std::string::npos);
}
