#include "worker/run/progress_lines.h"

#include <charconv>

#include "common/base/base64.h"
#include "common/base/utf8.h"

namespace rota::worker::run {

namespace {

// The longest value as base64, and its word.
constexpr std::size_t kMaxLineBytes = (kMaxValueBytes + 2) / 3 * 4 + 32;

std::string shown(std::string_view line) {
  return shown_text(line);
}

std::optional<std::int32_t> percent_in(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value >= 0 && value <= 100 ? std::optional(value) : std::nullopt;
}

}  // namespace

void Said::merge(Said later) {
  if (later.percent) {
    percent = later.percent;
    text = std::move(later.text);
  }
  if (later.checkpoint) checkpoint = std::move(later.checkpoint);
  if (later.result) result = std::move(later.result);
  if (later.failure) failure = std::move(later.failure);
}

std::string lines_of(const Said& said) {
  std::string out;
  if (said.percent) out += "progress " + std::to_string(*said.percent) + " " + said.text + "\n";
  if (said.checkpoint) out += "checkpoint64 " + base64_of(*said.checkpoint) + "\n";
  if (said.result) out += "result64 " + base64_of(*said.result) + "\n";
  if (said.failure) out += "failure64 " + base64_of(*said.failure) + "\n";
  return out;
}

Said ProgressLines::feed(std::string_view bytes) {
  Said said;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    keep(bytes.substr(0, end));
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    if (!is_too_long_) apply_line(partial_, said);
    partial_.clear();
    is_too_long_ = false;
  }
  return said;
}

Said ProgressLines::finish() {
  Said said;
  if (!is_too_long_) apply_line(partial_, said);
  partial_.clear();
  is_too_long_ = false;
  return said;
}

void ProgressLines::keep(std::string_view bytes) {
  if (is_too_long_) return;
  if (partial_.size() + bytes.size() > kMaxLineBytes) {
    partial_.append(bytes.substr(0, kShownBytes));
    refuse(partial_, "longer than a value of 65536 bytes needs");
    is_too_long_ = true;
    return;
  }
  partial_.append(bytes);
}

void ProgressLines::refuse(std::string_view line, std::string_view why) {
  if (bad_lines_++ == 0) first_bad_ = "'" + shown(line) + "': " + std::string(why);
}

void ProgressLines::apply_line(std::string_view line, Said& said) {
  if (line.empty()) return;
  const std::size_t space = line.find(' ');
  std::string_view word = line.substr(0, space);
  std::string_view rest = space == std::string_view::npos ? "" : line.substr(space + 1);
  if (word == "progress") {
    const std::size_t gap = rest.find(' ');
    const auto percent = percent_in(rest.substr(0, gap));
    if (!percent) return refuse(line, "progress wants a number from 0 to 100");
    said.percent = percent;
    said.text = gap == std::string_view::npos ? "" : clean_text(rest.substr(gap + 1), kMaxProgressText);
    return;
  }
  std::string value(rest);
  if (word.ends_with("64")) {
    auto bytes = from_base64(rest);
    if (!bytes) return refuse(line, "this is not base64");
    value = std::move(*bytes);
    word.remove_suffix(2);
  }
  if (value.size() > kMaxValueBytes) return refuse(line, "a value has at most 65536 bytes");
  if (word == "checkpoint") {
    said.checkpoint = std::move(value);
  } else if (word == "result") {
    said.result = std::move(value);
  } else if (word == "failure") {
    said.failure = clean_text(value, kMaxFailureText);
  } else {
    refuse(line, "known are progress, checkpoint, result and failure");
  }
}

}  // namespace rota::worker::run
