#include "common/base/log_format.h"

#include <doctest/doctest.h>

using namespace rota;

namespace {

LogRecord a_record() {
  return {wall_from_ms(1'700'000'000'123), Severity::Warn, "rota-master", "loop", "term began", {}};
}

}  // namespace

TEST_CASE("log format: a text line has time, level, process, channel, sentence and keys") {
  LogRecord record = a_record();
  record.keys = {{"epoch", "3", true}, {"by", "Jane Roe", false}, {"path", "/var/x.log", false}};
  CHECK(text_line(record) ==
        "2023-11-14T22:13:20.123Z WARN  rota-master loop: term began epoch=3 by=\"Jane Roe\" "
        "path=/var/x.log");
}

TEST_CASE("log format: a JSON line keeps numbers as numbers") {
  LogRecord record = a_record();
  record.keys = {
      {"epoch", "3", true}, {"ok", "true", true}, {"load", "nan", true}, {"name", "3", false}};
  CHECK(json_line(record) ==
        R"({"at":"2023-11-14T22:13:20.123Z","level":"warn","process":"rota-master",)"
        R"("channel":"loop","message":"term began","epoch":3,"ok":true,"load":"nan","name":"3"})");
}

TEST_CASE("log format: injected text cannot forge a line") {
  LogRecord record = a_record();
  record.sentence = "bad\nname";
  record.keys = {{"name", "x\n2023-11-14T22:13:20.123Z ERROR forged\r\x1b[2J", false},
                 {"quote", "a\" b=\"c\\", false},
                 {"next line", "\xc2\x85\xe2\x80\xa8", false}};
  for (const std::string& line : {text_line(record), json_line(record)}) {
    CAPTURE(line);
    for (const char c : line) CHECK(static_cast<unsigned char>(c) >= 0x20);
    CHECK(line.find("\xc2\x85") == std::string::npos);
    CHECK(line.find("\xe2\x80\xa8") == std::string::npos);
  }
  CHECK(text_line(record).find(R"(quote="a\" b=\"c\\")") != std::string::npos);
}

TEST_CASE("log format: broken UTF-8 is shown, never passed on") {
  LogRecord record = a_record();
  record.keys = {{"raw", "a\xff\xc0\xaf z\xe4\xb8\xad", false}};
  CHECK(text_line(record).find(R"(raw="a\xff\xc0\xaf z)"
                               "\xe4\xb8\xad\"") != std::string::npos);
  CHECK(json_line(record).find(R"("raw":"a\ufffd\ufffd\ufffd z)"
                               "\xe4\xb8\xad\"") != std::string::npos);
}

TEST_CASE("log format: a key cannot replace a fixed one") {
  LogRecord record = a_record();
  record.keys = {{"level", "debug", false}};
  CHECK(json_line(record).find(R"("key_level":"debug")") != std::string::npos);
}
