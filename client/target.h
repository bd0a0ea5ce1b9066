// Which cluster and namespace a command means: what its options say, else the environment, else the context,
// else what is built in. Pure.
#pragma once

#include <map>
#include <string>

#include "client/context_file.h"

namespace rota::client {

/// A setting's value, and who said it: "--masters", "ROTA_MASTERS", "context prod", "built in", or "not set".
struct Said {
  std::string value;
  std::string by;
};

struct Target {
  Said context;                          ///< empty value: none
  std::map<std::string, Said> settings;  ///< by name, each of context_settings

  const std::string& operator[](const std::string& name) const { return settings.at(name).value; }
  bool is_set(const std::string& name) const;
  /// "context prod: masters m1:7400, namespace finance", for questions before something is destroyed.
  std::string words() const;
};

/// Values by the names of settings, and "context".
using SaidSettings = std::map<std::string, std::string>;

/// `options`: of the command line; `environment`: of its variables, where an empty text says nothing. Where
/// ZooKeeper is said by a stronger voice than masters, these are not asked. NotFound: no such context.
Result<Target> choose_target(const SaidSettings& options, const SaidSettings& environment,
                             const ContextFile& file, const std::string& path);

}  // namespace rota::client
