// Programs that print too much, too oddly, or too late.
#include <doctest/doctest.h>

#include "test/nasty/nasty_worker.h"

namespace rota::testing {

TEST_CASE("nasty: a flood") {
  NastyWorker it;
  const std::int64_t mib = is_long_form() ? 10 << 10 : 200;
  auto item = it.item(by_sh("head -c " + std::to_string(mib << 20) + " /dev/zero | tr '\\0' x; exit 1"));
  item.work.__set_output_cap_bytes(4 << 20);
  const auto run = it.start(item);
  const auto outcome = it.expect(run, exited(1), is_long_form() ? Millis{900'000} : kPatience);
  CHECK(outcome.stdout_bytes == mib << 20);
  CHECK(it.text(run, 1, 4 << 20).size() == 4 << 20);
  CHECK(it.master().dropped(run, 1) == (mib - 4) << 20);
}

TEST_CASE("nasty: 4 MB without a newline") {
  NastyWorker it;
  const auto run = it.start(by_sh("head -c 4000000 /dev/zero | tr '\\0' a"));
  CHECK(it.expect(run, {}).stdout_bytes == 4'000'000);
  CHECK((it.text(run, 1, 4'000'000) == std::string(4'000'000, 'a')));
}

TEST_CASE("nasty: binary, broken UTF-8, control bytes, NUL") {
  NastyWorker it;
  const auto run = it.start(by_sh("printf '\\377\\376\\300\\200\\033[2J\\007\\0\\355\\240\\200\\r\\n'; exit 2"));
  CHECK(it.expect(run, exited(2)).stdout_bytes == 15);
  CHECK(it.text(run, 1, 15) == std::string("\xff\xfe\xc0\x80\x1b[2J\x07\0\xed\xa0\x80\r\n", 15));
}

TEST_CASE("nasty: one byte at a time") {
  NastyWorker it;
  const long count = is_long_form() ? 1'000'000 : 100'000;
  const auto run = it.start(nasty("single_bytes", count));
  CHECK(it.expect(run, {}).stdout_bytes == count);
  const std::string text = it.text(run, 1, count);
  CHECK(static_cast<long>(text.size()) == count);
  CHECK(text.starts_with("abcdefghijklmnopqrstuvwxyzab"));
}

TEST_CASE("nasty: closes 0, 1 and 2") {
  NastyWorker it;
  CHECK(it.run(by_sh("exec 0<&- 1>&- 2>&-; sleep 0.05; exit 7"), exited(7)).stdout_bytes == 0);
}

TEST_CASE("nasty: a background child holds the pipe") {
  NastyWorker it;
  it.run(by_sh("sleep 600 & echo gone; exit 5"), exited(5));  // the wait is shorter than the child's life
}

TEST_CASE("nasty: a child goes on printing after the end") {
  NastyWorker it;
  const auto run = it.start(nasty("print_after_end"));
  const auto outcome = it.expect(run, exited(6));
  const std::string text = it.text(run, 1, outcome.stdout_bytes);
  CHECK(static_cast<std::int64_t>(text.size()) == outcome.stdout_bytes);
  CHECK(text.find("main\n") != std::string::npos);
}

TEST_CASE("nasty: a pipe of one page that does not block") {
  NastyWorker it;
  CHECK(it.run(nasty("tiny_pipe", 1'000'000), {}).stdout_bytes == 1'000'000);
}

TEST_CASE("nasty: reads its own output back") {
  NastyWorker it;
  it.run(by_sh("echo abc; timeout 0.2 head -c 2 < /proc/self/fd/1 > /dev/null; echo def >&2; exit 3"),
         exited(3));
}

TEST_CASE("nasty: reads its standard input, which is empty") {
  NastyWorker it;
  it.run(by_sh("cat; cat; exec cat"), {});
}

TEST_CASE("nasty: both streams at once, 20,000 lines") {
  NastyWorker it;
  const auto run = it.start(by_sh("i=0; while [ $i -lt 10000 ]; do echo o; echo e >&2; i=$((i+1)); done"));
  const auto outcome = it.expect(run, {});
  CHECK(outcome.stdout_bytes == 20'000);
  CHECK(outcome.stderr_bytes == 20'000);
  CHECK(it.text(run, 2, 20'000).size() == 20'000);
}

}  // namespace rota::testing
