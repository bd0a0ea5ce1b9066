// The man pages of all programs and files, from the tables that also make help, completion and the checks of
// files. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/command/completion.h"

namespace rota::client {

struct ManPage {
  std::string file;   ///< "rota-job.1"
  std::string text;
};

/// What another program prints for --help, by its name: "rota-master".
using HelpTexts = std::map<std::string, std::string>;

/// An option, or a form of the command line, as --help of a program shows it.
struct HelpOption {
  std::string names;
  std::string help;
  bool operator==(const HelpOption&) const = default;
};
/// The lines of a help text that are indented by two, with their help, which is indented by more.
std::vector<HelpOption> options_of_help(const std::string& help);

/// rota.1, rota-COMMAND.1 for each command, rota-job.5 and rota-config.5, and for each program of `helps` its
/// page in section 8 and the one of its settings in section 5.
std::vector<ManPage> man_pages(const CommandWord& root, const HelpTexts& helps, const std::string& version);

}  // namespace rota::client
