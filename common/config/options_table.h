// The one table of settings: key, unit, range, comment, and the field that it fills. Reading,
// environment overrides, --print-default-config and the list of what needs a restart all use it.
// A setting's default is the field's initial value in options.h. Private to common/config.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "common/config/options.h"

namespace rota::config {

/// A whole number of any width, or a duration in milliseconds.
struct WholeField {
  std::function<std::int64_t()> get;
  std::function<void(std::int64_t)> set;
  std::int64_t min = 0;
  std::int64_t max = 0;
};

using Field =
    std::variant<WholeField, bool*, std::string*, std::vector<std::string>*,
                 std::map<std::string, std::string>*, Severity*, std::map<std::string, Severity>*,
                 std::vector<ReceiverOptions>*, std::vector<HookOptions>*>;

/// Returns what is wrong with a value, and the remedy; empty when it is fine.
using Check = std::function<std::string(const std::string& value)>;

struct Setting {
  std::string key;      ///< dotted
  std::string comment;  ///< full sentences
  Field field;
  Check check;           ///< of a text, or of each item of a list
  bool reloads = false;  ///< read again on SIGHUP

  /// "ROTA_ZOOKEEPER_CONNECT"
  std::string environment_name() const;
  /// "ms", "bytes" ...: from the last word of the key; empty when it has no unit.
  std::string unit() const;
  /// The allowed values: "2000 to 40000 ms", "true or false", "debug, info, warn or error" ...; may be
  /// empty for texts.
  std::string allowed() const;
  /// The present value as YAML.
  std::string value_text() const;
};

/// The settings in the order of the file, bound to `options`, which must outlive them.
std::vector<Setting> settings_of(MasterOptions& options);
std::vector<Setting> settings_of(WorkerOptions& options);

// Checks of single values (options_checks.cpp).
std::string check_name(const std::string& value);  ///< an id, a pool
std::string check_cluster(const std::string& value);
std::string check_path(const std::string& value);      ///< absolute, or empty
std::string check_connect(const std::string& value);   ///< host:port[,host:port...]
std::string check_bind(const std::string& value);      ///< an IP address or localhost
std::string check_network(const std::string& value);   ///< CIDR
std::string check_word(const std::string& value);      ///< a variable's or database's name
std::string check_log_store(const std::string& value);
std::string check_elector(const std::string& value);
std::string check_endpoint(const std::string& value);  ///< http://host:port, or https
std::string check_host(const std::string& value);      ///< host or host:port
std::string check_no_space(const std::string& value);  ///< a host or user

/// Whether an IP address (or localhost) lies in one of the networks.
bool lies_in(const std::string& host, const std::vector<std::string>& networks);

}  // namespace rota::config
