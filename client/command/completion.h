// Completes command lines in a shell: decides which words may come next, from the same tables as --help. The
// shell's part (`rota completion bash|zsh|fish`) only asks `rota --complete WORD...` and shows the answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rota::client {

/// What a positional or a value names. The cluster is asked for these names, the person's file for contexts.
enum class Place { None, Job, Run, Worker, ContextName, Setting };

/// An option of a command. `names` has all its spellings, "--output" and "-o".
struct OptionWord {
  std::vector<std::string> names;
  std::string help;
  bool takes_value = true;
  std::vector<std::string> values;      ///< the allowed values, when they are a fixed set
  Place place = Place::None;            ///< what its value names
  std::string full_help = "";           ///< all lines of it
  std::string value_name = "";          ///< what stands for the value in help
  bool is_required = false;
};

/// A command with its subcommands. Options of a parent may also follow its children.
struct CommandWord {
  std::string name;
  std::string help;
  std::vector<OptionWord> options;
  std::vector<CommandWord> children;
  Place place = Place::None;
  std::vector<OptionWord> positionals = {};  ///< what stands without a name, in order
  std::string footer = "";
  bool is_list = false;                 ///< it prints a list, in all forms
  bool is_watchable = false;
};

/// A word that may come next, with a line about it; the line may be empty.
struct Completion {
  std::string word;
  std::string help;
  bool operator==(const Completion&) const = default;
};

/// All completions of the last word.
struct Completions {
  std::vector<Completion> words;        ///< words that begin with the last word
  Place place = Place::None;            ///< such names fit too; the caller asks the cluster for them
};

/// `words`: what follows `rota`; the last word is incomplete or empty. Pure.
Completions complete(const CommandWord& root, const std::vector<std::string>& words);

/// The script for a shell ("bash", "zsh", "fish"); empty for an unknown shell.
std::string_view completion_script(std::string_view shell);

}  // namespace rota::client
