#include "client/command/screen.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "client/command/csv_text.h"
#include "client/command/yaml_text.h"
#include "common/base/duration_text.h"

namespace rota::client {

void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

bool output_is_closed() { return std::ferror(stdout) != 0; }

bool output_has_no_reader() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int status_of_output(int status) {
  if (std::fflush(stdout) == 0 && !output_is_closed()) return status;
  if (output_has_no_reader()) return status;
  note("rota: the output could not be written completely; is its disk full?");
  return status == kOk ? static_cast<int>(kFailed) : status;
}

void print_data(Format format, const nlohmann::json& value) {
  if (format == Format::Yaml) return print_text(yaml_text(value));
  if (format == Format::Csv) return print_text(csv_text(value));
  const int indent = format == Format::JsonLine ? -1 : 2;
  print_text(value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

/// Does not use fmt::print, which throws when stderr is a file on a full disk.
void note(std::string_view line) { std::fputs((std::string(line) + "\n").c_str(), stderr); }

int complain(const Error& error) {
  const std::string why = error.message.empty() ? std::string(name_of(error.code)) : error.message;
  note("rota: " + why);
  return exit_status_of(error.code);
}

std::string show_time(std::int64_t ms) {
  if (ms == 0) return "-";
  std::string text = format_moment(wall_from_ms(ms));
  if (text.size() > 10 && text[10] == 'T') text[10] = ' ';
  return text;
}

std::string show_local_time(std::int64_t ms, const model::ZoneRules& zone) {
  const std::int64_t utc_s = floor_ms(wall_from_ms(ms).time_since_epoch()).count() / 1000;
  std::int32_t offset_s = 0;
  for (const model::ZoneChange& change : zone.changes) {
    if (change.from_utc_s > utc_s) break;
    offset_s = change.offset_s;
  }
  const std::string text = format_moment(wall_from_ms(ms + std::int64_t{1000} * offset_s));
  return fmt::format("  {} {} {}", text.substr(0, 10), text.substr(11, 8), zone.name);
}

std::string pairs_text(const std::map<std::string, std::string>& pairs) {
  std::string out;
  for (const auto& [name, value] : pairs) out += (out.empty() ? "" : ", ") + name + "=" + value;
  return out;
}

std::string show_duration(std::int64_t from_ms, std::int64_t to_ms) {
  if (from_ms == 0 || to_ms == 0 || to_ms < from_ms) return "-";
  const std::int64_t ms = to_ms - from_ms;
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 60'000) return fmt::format("{:.1f}s", static_cast<double>(ms) / 1000.0);
  return format_duration(Millis{ms - ms % 1000});
}

Result<std::int64_t> run_id_from(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (problem != std::errc{} || end != text.data() + text.size() || id <= 0) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("'{}' is no run id; `rota run list` shows them", printable(text)));
  }
  return id;
}

}  // namespace rota::client
