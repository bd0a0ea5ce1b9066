// What rota-worker is asked to do. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace rota::worker {

struct CommandLine {
  enum class What { Run, Proper, Handler, CheckConfig, PrintDefaultConfig, Sweep, Version, Help };
  What what = What::Run;
  std::string config;      ///< empty: defaults and environment
  std::string state_dir;   ///< Sweep
  std::string handler;     ///< Handler
};

extern const char* const kUsage;

/// InvalidArgument says which word is wrong.
Result<CommandLine> parse_command_line(const std::vector<std::string>& words);

}  // namespace rota::worker
