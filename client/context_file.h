// Contexts: named clusters of a person, in ~/.config/rota/config.yaml. Each says where a cluster is and which
// namespace is meant there. To add a setting: a row of context_settings. Pure.
//
//   current: prod
//   contexts:
//     prod: {zookeeper: "zk1:2181,zk2:2181", namespace: finance}
//     test: {masters: "127.0.0.1:7400"}
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/config/problems.h"

namespace rota::client {

/// What a context can say, and who else can say it.
struct ContextSetting {
  std::string name;         ///< its key in the file
  std::string option;       ///< "--masters"
  std::string environment;  ///< "ROTA_MASTERS"
  std::string built_in;     ///< when nobody says it; empty: nothing
  std::string help;
  std::string (*check)(const std::string& value);  ///< what is wrong with it, and the remedy; empty: fine
};
const std::vector<ContextSetting>& context_settings();
/// nullptr: there is none of that name.
const ContextSetting* context_setting(std::string_view name);

/// Values by the names of settings.
using Context = std::map<std::string, std::string>;

struct ContextFile {
  std::string current;  ///< used when nothing else is said; empty: none
  std::map<std::string, Context> contexts;
};

/// Why it cannot be the name of a context; empty: it can.
std::string context_name_problem(const std::string& name);
/// What is wrong goes to `problems`, with place, value and remedy. An empty text has no contexts.
ContextFile read_context_file(const std::string& source, std::string_view text, config::Problems& problems);
/// read_context_file reads it as the same.
std::string context_file_text(const ContextFile& file);
/// NotFound names what is there. `path`: of the file.
Result<Context> context_named(const ContextFile& file, const std::string& name, const std::string& path);

/// Where the file is: $XDG_CONFIG_HOME/rota/config.yaml, else $HOME/.config/rota/config.yaml. By the XDG
/// Base Directory Specification a path that is not absolute counts as not set. Empty: neither is set.
std::string context_file_path(const std::string& xdg_config_home, const std::string& home);

}  // namespace rota::client
