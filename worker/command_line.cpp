#include "worker/command_line.h"

namespace rota::worker {

const char* const kUsage =
    R"(rota-worker: runs jobs that a Rota master sends

  rota-worker [--config FILE]            run; without a file: defaults and ROTA_... variables
  rota-worker --check-config [--config FILE]
  rota-worker --print-default-config
  rota-worker --sweep --state-dir DIR    kill what a dead worker of this state folder left behind
  rota-worker --version | --help

Signals: TERM or INT drains (again: at once), HUP reads the log settings again.
Exit: 0 done, 2 wrong configuration or a rival with the same id, 3 (--sweep) something is left.
)";

Result<CommandLine> parse_command_line(const std::vector<std::string>& words) {
  CommandLine line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--config" || word == "--state-dir" || word == "--handler") {
      if (i + 1 == words.size()) return fail(ErrorCode::InvalidArgument, word + " needs a value");
      if (word == "--handler") line.what = CommandLine::What::Handler;
      (word == "--config" ? line.config : word == "--handler" ? line.handler : line.state_dir) = words[++i];
    } else if (word == "--proper") {
      line.what = CommandLine::What::Proper;
    } else if (word == "--check-config") {
      line.what = CommandLine::What::CheckConfig;
    } else if (word == "--print-default-config") {
      line.what = CommandLine::What::PrintDefaultConfig;
    } else if (word == "--sweep") {
      line.what = CommandLine::What::Sweep;
    } else if (word == "--version") {
      line.what = CommandLine::What::Version;
    } else if (word == "--help" || word == "-h") {
      line.what = CommandLine::What::Help;
    } else {
      return fail(ErrorCode::InvalidArgument, "unknown argument '" + word + "'");
    }
  }
  if (line.what == CommandLine::What::Sweep && line.state_dir.empty()) {
    return fail(ErrorCode::InvalidArgument, "--sweep needs --state-dir");
  }
  return line;
}

}  // namespace rota::worker
