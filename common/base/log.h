// The process's own log. A line is a fixed sentence plus keys, so that it can be searched:
//   log_info("loop", "term began", {{"epoch", epoch.value}, {"runs", n}});
// It uses Boost.Log (only log.cpp includes it): console and a rotating file, text or JSON lines, a
// severity per channel. Only shells log; the pure parts never do.
// Thread: any. Before log_start everything of level info and above goes to stderr as text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rota {

enum class Severity { Debug, Info, Warn, Error };

/// One key of a log line. Numbers keep their type in JSON lines.
struct LogKey {
  std::string_view name;
  std::string value;
  bool is_number = false;

  LogKey(std::string_view n, std::string_view v) : name(n), value(v) {}
  LogKey(std::string_view n, const char* v) : name(n), value(v) {}
  LogKey(std::string_view n, const std::string& v) : name(n), value(v) {}
  LogKey(std::string_view n, bool v) : name(n), value(v ? "true" : "false"), is_number(true) {}
  template <typename Number>
    requires(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>)
  LogKey(std::string_view n, Number v) : name(n), value(std::to_string(v)), is_number(true) {}
};

struct LogOptions {
  std::string process = "rota";              ///< name in each line, e.g. "rota-master"
  bool console = true;                       ///< lines to stderr
  bool json = false;                         ///< JSON lines instead of text
  std::string file;                          ///< empty: no file
  std::uint64_t rotate_bytes = 64u << 20;    ///< size at which the file is rotated
  unsigned keep_files = 5;                   ///< rotated files that are kept
  Severity level = Severity::Info;           ///< for channels without a level of their own
  std::map<std::string, Severity> channels;  ///< level per channel
};

/// Starts the sinks and levels; a second call replaces them (SIGHUP does that).
void log_start(const LogOptions& options);
/// Writes the lines held back (log_limiter.h) and ends the sinks; later lines go to stderr.
void log_stop();
/// Whether a line of this level would be written; cheap (one atomic read in the common case).
bool log_enabled(std::string_view channel, Severity level);

void log_line(std::string_view channel, Severity level, std::string_view sentence,
              std::initializer_list<LogKey> keys);

inline void log_debug(std::string_view channel, std::string_view sentence,
                      std::initializer_list<LogKey> keys = {}) {
  if (log_enabled(channel, Severity::Debug)) log_line(channel, Severity::Debug, sentence, keys);
}
inline void log_info(std::string_view channel, std::string_view sentence,
                     std::initializer_list<LogKey> keys = {}) {
  log_line(channel, Severity::Info, sentence, keys);
}
inline void log_warn(std::string_view channel, std::string_view sentence,
                     std::initializer_list<LogKey> keys = {}) {
  log_line(channel, Severity::Warn, sentence, keys);
}
inline void log_error(std::string_view channel, std::string_view sentence,
                      std::initializer_list<LogKey> keys = {}) {
  log_line(channel, Severity::Error, sentence, keys);
}

}  // namespace rota
