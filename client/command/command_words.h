// The command line's tables as the words that a shell completes.
#pragma once

#include "client/command/commands.h"
#include "client/command/completion.h"

namespace CLI {
class App;
}

namespace rota::client {

/// The command with its options and all below it. Hidden ones are left out.
CommandWord command_words(const CLI::App& app);

/// Prints what may come next, a word a line with a tab and its help behind it. Names of jobs, runs and
/// workers are asked of the cluster; when it does not answer there are none. Gives 0.
int print_completions(Desk& desk, const CommandWord& root, const std::vector<std::string>& words);

}  // namespace rota::client
