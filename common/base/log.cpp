#include "common/base/log.h"
#include <cstdio>
namespace rota {
void log_start(const LogOptions&) {}
void log_stop() {}
bool log_enabled(std::string_view, Severity level) { return level >= Severity::Info; }
void log_line(std::string_view channel, Severity, std::string_view sentence, std::initializer_list<LogKey> keys) {
  std::string line(channel); line += ": "; line += sentence;
  for (const auto& k : keys) { line += ' '; line += k.name; line += '='; line += k.value; }
  line += '\n'; std::fputs(line.c_str(), stderr);
}
}
