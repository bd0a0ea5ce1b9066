#include "common/model/http_call.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "common/base/duration_text.h"
#include "common/base/spelling.h"
#include "common/base/utf8.h"

namespace rota::model {

namespace {

constexpr std::size_t kMaxMethodBytes = 20;
constexpr int kMostRedirects = 20;
constexpr Millis kLongestCall{std::chrono::hours{24}};
constexpr std::string_view kHeaderStart = "header.";

/// RFC 9110, 5.6.2: the characters of header names and methods.
bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

std::optional<int> whole_number(std::string_view text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value >= low && value <= high ? std::optional(value) : std::nullopt;
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<StatusRange> range_in(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto low = whole_number(without_spaces(text.substr(0, dash)), 100, 599);
  const auto high = dash == std::string_view::npos
                        ? low
                        : whole_number(without_spaces(text.substr(dash + 1)), 100, 599);
  if (!low || !high || *low > *high) return std::nullopt;
  return StatusRange{*low, *high};
}

std::string shown(std::string_view text) {
  return quoted_text(text, 80);
}

/// Reads one parameter after the other into a call; collects the problems.
class Reading {
 public:
  void take(const std::string& name, const std::string& value) {
    if (name == "url") return read_url(value);
    if (name == "method") return read_method(value);
    if (name == "body") return read_body(value);
    if (name == "expect") return read_expected(value);
    if (name == "timeout") return read_duration(name, value, call.timeout);
    if (name == "connect_timeout") return read_duration(name, value, call.connect_timeout);
    if (name == "redirects") return read_redirects(value);
    if (name == "ca_file") return read_ca_file(value);
    if (name.starts_with(kHeaderStart)) return read_header(name.substr(kHeaderStart.size()), value);
    refuse(name, "is no parameter of the handler http" +
                     did_you_mean(name, {"url", "method", "body", "expect", "timeout", "connect_timeout",
                                         "redirects", "ca_file", "header.NAME"}));
  }

  void finish() {
    if (call.url.empty() && problems.empty()) refuse("url", "is missing: give the address to call");
    if (!has_method_ && call.has_body) call.method = "POST";
  }

  HttpCall call;
  std::string problems;

 private:
  void refuse(std::string_view name, std::string_view why) {
    problems += (problems.empty() ? "" : "; ") + ("parameters." + shown_text(name) + " ") + std::string(why);
  }

  void read_url(const std::string& url) {
    const bool is_plain = std::ranges::all_of(url, [](char c) { return c > ' ' && c != 127; });
    const std::size_t host = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
    if (host == 0 || url.size() == host || url[host] == '/') {
      return refuse("url", shown(url) + " must be http://HOST/... or https://HOST/...");
    }
    if (!is_plain) return refuse("url", shown(url) + " contains a space or control character: write %20");
    if (url.size() > kMaxUrlBytes) return refuse("url", "is longer than 8192 bytes");
    call.url = url;
  }

  void read_method(const std::string& method) {
    if (!is_token(method) || method.size() > kMaxMethodBytes) {
      return refuse("method", shown(method) + " is none: GET, HEAD, POST, PUT, PATCH, DELETE ...");
    }
    call.method = method;
    has_method_ = true;
  }

  void read_body(const std::string& body) {
    call.body = body;
    call.has_body = true;
  }

  void read_expected(const std::string& text) {
    std::vector<StatusRange> ranges;
    for (std::string_view rest = text;;) {
      const std::size_t comma = rest.find(',');
      const auto range = range_in(without_spaces(rest.substr(0, comma)));
      if (!range) return refuse("expect", shown(text) + " must be like 200 or 200-299,304");
      ranges.push_back(*range);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    call.expected = std::move(ranges);
  }

  void read_duration(const std::string& name, const std::string& text, Millis& place) {
    const auto duration = parse_duration(text);
    if (!duration || *duration < Millis{1} || *duration > kLongestCall) {
      return refuse(name, shown(text) + " must be a duration from 1ms to 1d, like 30s");
    }
    place = *duration;
  }

  void read_redirects(const std::string& text) {
    const auto count = whole_number(text, 0, kMostRedirects);
    if (!count) return refuse("redirects", shown(text) + " must be 0 (follow none) to 20");
    call.redirects = *count;
  }

  void read_ca_file(const std::string& path) {
    if (path.empty() || path.front() != '/' || !is_header_value(path)) {
      return refuse("ca_file", shown(path) + " must be an absolute path on the worker");
    }
    call.ca_file = path;
  }

  void read_header(const std::string& name, const std::string& value) {
    if (!is_token(name)) return refuse(kHeaderStart, shown(name) + " is no name of a header");
    if (!is_header_value(value)) {
      return refuse(std::string(kHeaderStart) + name, "contains a line break, which headers do not allow");
    }
    call.headers.emplace_back(name, value);
  }

  bool has_method_ = false;
};

}  // namespace

bool HttpCall::expects(int status) const {
  return std::ranges::any_of(expected, [&](const StatusRange& range) {
    return status >= range.low && status <= range.high;
  });
}

Result<HttpCall> http_call_of(const Parameters& parameters) {
  Reading reading;
  for (const auto& [name, value] : parameters) reading.take(name, value);
  reading.finish();
  if (!reading.problems.empty()) return fail(ErrorCode::InvalidArgument, reading.problems);
  return std::move(reading.call);
}

std::string text_of(const std::vector<StatusRange>& ranges) {
  std::string out;
  for (const StatusRange& range : ranges) {
    out += (out.empty() ? "" : ", ") + std::to_string(range.low);
    if (range.high != range.low) out += "-" + std::to_string(range.high);
  }
  return out;
}

}  // namespace rota::model
