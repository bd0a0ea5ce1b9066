// Completing command lines in a shell: which words may come next, from the same tables as --help. The
// shell's part (`rota completion bash|zsh|fish`) only asks `rota --complete WORD...` and shows the answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rota::client {

/// What a word stands for that is no command and no option: names of these are asked of the cluster.
enum class Place { None, Job, Run, Worker };

/// An option of a command. `names` has all its spellings, "--output" and "-o".
struct OptionWord {
  std::vector<std::string> names;
  std::string help;
  bool takes_value = true;
  std::vector<std::string> values;      ///< what may be given, where that is a fixed set
  Place place = Place::None;            ///< of its value
};

/// A command with those below it. Options of a parent may be given behind its children too.
struct CommandWord {
  std::string name;
  std::string help;
  std::vector<OptionWord> options;
  std::vector<CommandWord> children;
  Place place = Place::None;
};

/// A word that may come next, with a line about it; the line may be empty.
struct Completion {
  std::string word;
  std::string help;
  bool operator==(const Completion&) const = default;
};

/// What fits.
struct Completions {
  std::vector<Completion> words;        ///< that begin as the last word does
  Place place = Place::None;            ///< names of these fit too; the caller asks the cluster for them
};

/// `words`: what stands behind `rota`, the last one begun or empty. Pure.
Completions complete(const CommandWord& root, const std::vector<std::string>& words);

/// The script for a shell ("bash", "zsh", "fish"); empty: no such shell is known.
std::string_view completion_script(std::string_view shell);

}  // namespace rota::client
