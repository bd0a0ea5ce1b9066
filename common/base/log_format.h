// How a log line looks, as text or as JSON. Pure, so that the escaping can be tested: no value can
// begin a new line, end a quoted value or move a terminal's cursor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/log.h"
#include "common/base/time.h"

namespace rota {

/// A key of a line, owning its name.
struct OwnedLogKey {
  std::string name;
  std::string value;
  bool is_number = false;
};

struct LogRecord {
  WallTime at{};
  Severity level = Severity::Info;
  std::string process;
  std::string channel;
  std::string sentence;
  std::vector<OwnedLogKey> keys;
  bool is_one_of_many = false;  ///< all lines with its sentence are of one kind (log_limiter.h)
};

/// "debug", "info", "warn", "error".
std::string_view name_of(Severity level);
std::optional<Severity> severity_named(std::string_view name);

/// 2026-11-20T23:16:39.123Z INFO  rota-master loop: term began epoch=3 by="a b"
std::string text_line(const LogRecord& record);

/// {"at":"...","level":"info","process":"...","channel":"...","message":"...","epoch":3}
/// A key named as one of the fixed ones gets the prefix "key_". Broken UTF-8 becomes U+FFFD.
std::string json_line(const LogRecord& record);

}  // namespace rota
