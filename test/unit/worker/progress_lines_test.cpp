#include "worker/run/progress_lines.h"

#include <doctest/doctest.h>

#include "common/base/base64.h"

namespace rota::worker::run {

TEST_CASE("progress_lines: each word is read, the last of a kind counts") {
  ProgressLines lines;
  const Said said = lines.feed(
      "progress 10 begun\nprogress 40 half of it\ncheckpoint line 7\nresult a b\nfailure no disk\n");
  CHECK(said.percent == 40);
  CHECK(said.text == "half of it");
  CHECK(said.checkpoint == "line 7");
  CHECK(said.result == "a b");
  CHECK(said.failure == "no disk");
  CHECK(lines.feed("progress 41\n\n").text.empty());
  CHECK(lines.bad_lines() == 0);
}

TEST_CASE("progress_lines: lines may come in any pieces") {
  const std::string text = "progress 5 a\ncheckpoint64 AAEC\nresult x\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    ProgressLines lines;
    Said said = lines.feed(text.substr(0, cut));
    said.merge(lines.feed(text.substr(cut)));
    CHECK(said.percent == 5);
    CHECK(said.checkpoint == std::string("\0\1\2", 3));
    CHECK(said.result == "x");
    CHECK(lines.bad_lines() == 0);
  }
}

TEST_CASE("progress_lines: the last line counts without its end") {
  ProgressLines lines;
  CHECK(lines.feed("result 4").empty());
  CHECK(lines.feed("2").empty());
  CHECK(lines.finish().result == "42");
  CHECK(lines.finish().empty());
}

TEST_CASE("progress_lines: what is not understood is counted, and the first is shown") {
  ProgressLines lines;
  const Said said = lines.feed(
      "hello\x01 there\nprogress x\nprogress 101\nprogress -1\nprogress\ncheckpoint64 A\nresult64 ??\n"
      "checkpoint ok\n");
  CHECK(said.checkpoint == "ok");
  CHECK_FALSE(said.percent);
  CHECK_FALSE(said.result);
  CHECK(lines.bad_lines() == 7);
  CHECK(lines.first_bad() == "'hello\\x01 there': known are progress, checkpoint, result and failure");
}

TEST_CASE("progress_lines: values and lines have bounds") {
  ProgressLines lines;
  const std::string largest(kMaxValueBytes, 'x');
  CHECK(lines.feed("checkpoint " + largest + "\n").checkpoint == largest);
  CHECK(lines.feed("checkpoint64 " + base64_of(largest) + "\n").checkpoint == largest);
  CHECK(lines.feed("checkpoint " + largest + "x\n").empty());
  CHECK(lines.bad_lines() == 1);
  for (int i = 0; i < 100; ++i) CHECK(lines.feed(largest).empty());
  CHECK(lines.bad_lines() == 2);
  CHECK(lines.feed("rest\nresult y\n").result == "y");
  CHECK(lines.bad_lines() == 2);
  CHECK(lines.feed("progress 1 " + std::string(500, 't') + "\n").text.size() == kMaxProgressText);
}

TEST_CASE("progress_lines: what is written is read as the same") {
  Said said;
  said.percent = 3;
  said.text = "three";
  said.checkpoint = std::string("a\nb\0c", 5);
  said.result = "";
  said.failure = "why";
  CHECK(ProgressLines().feed(lines_of(said)) == said);
}

TEST_CASE("base64: there and back for every length") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    const std::string text = base64_of(bytes);
    CHECK(text.size() == (bytes.size() + 2) / 3 * 4);
    CHECK(from_base64(text) == bytes);
    bytes += static_cast<char>(i * 37);
  }
  CHECK(base64_of("any carnal pleas") == "YW55IGNhcm5hbCBwbGVhcw==");
  CHECK(from_base64("YW55IGNhcm5hbCBwbGVhcw") == "any carnal pleas");
  CHECK_FALSE(from_base64("a"));
  CHECK_FALSE(from_base64("ab cd"));
}

}  // namespace rota::worker::run
