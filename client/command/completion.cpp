#include "client/command/completion.h"

#include <algorithm>

namespace rota::client {
namespace {

bool begins(const std::string& word, const std::string& with) { return word.rfind(with, 0) == 0; }

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// The deepest command that the words name, and its parents.
struct Path {
  std::vector<const CommandWord*> commands;
  const OptionWord* awaits_value = nullptr;  ///< the second last word is this option
  std::size_t places = 0;                    ///< positionals of the deepest command so far

  explicit Path(const CommandWord& root) : commands{&root} {}

  const OptionWord* option_named(const std::string& name) const {
    for (auto command = commands.rbegin(); command != commands.rend(); ++command) {
      for (const OptionWord& option : (*command)->options) {
        if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) return &option;
      }
    }
    return nullptr;
  }

  void step(const std::string& word) {
    if (awaits_value != nullptr) {
      awaits_value = nullptr;
      return;
    }
    if (is_option(word)) {
      const OptionWord* option = option_named(word);
      if (option != nullptr && option->takes_value) awaits_value = option;
      return;
    }
    for (const CommandWord& child : commands.back()->children) {
      if (child.name == word) return commands.push_back(&child);
    }
    ++places;
  }
};

void add_options(Completions& out, const Path& path, const std::string& begun) {
  for (auto command = path.commands.rbegin(); command != path.commands.rend(); ++command) {
    for (const OptionWord& option : (*command)->options) {
      for (const std::string& name : option.names) {
        if (begins(name, begun)) out.words.push_back({name, option.help});
      }
    }
  }
}

constexpr std::string_view kBash = R"(# rota: completion for bash. Use it by: source <(rota completion bash)
_rota() {
  local word line
  COMPREPLY=()
  while IFS=$'\t' read -r word line; do COMPREPLY+=("$word"); done \
    < <(rota --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if ((${#COMPREPLY[@]} == 0)); then compopt -o default 2>/dev/null; fi
}
complete -F _rota rota
)";

constexpr std::string_view kZsh = R"(#compdef rota
# rota: completion for zsh. Use it by: source <(rota completion zsh)
_rota() {
  local -a words_found
  local word line
  while IFS=$'\t' read -r word line; do
    words_found+=("${word//:/\\:}${line:+:$line}")
  done < <(rota --complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  if ((${#words_found})); then _describe 'rota' words_found; else _files; fi
}
compdef _rota rota
)";

constexpr std::string_view kFish = R"(# rota: completion for fish. Use it by: rota completion fish | source
function __rota_complete
  set -l words (commandline -opc) (commandline -ct)
  rota --complete $words[2..-1] 2>/dev/null
end
complete -c rota -a '(__rota_complete)'
)";

}  // namespace

Completions complete(const CommandWord& root, const std::vector<std::string>& words) {
  Completions out;
  Path path(root);
  const std::string begun = words.empty() ? "" : words.back();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--") return out;  // what follows belongs to the job
    path.step(words[i]);
  }
  if (path.awaits_value != nullptr) {
    for (const std::string& value : path.awaits_value->values) {
      if (begins(value, begun)) out.words.push_back({value, ""});
    }
    out.place = path.awaits_value->place;
    return out;
  }
  if (is_option(begun) || begun == "-") {
    add_options(out, path, begun);
    return out;
  }
  const CommandWord& deepest = *path.commands.back();
  for (const CommandWord& child : deepest.children) {
    if (begins(child.name, begun)) out.words.push_back({child.name, child.help});
  }
  if (path.places == 0) out.place = deepest.place;
  return out;
}

std::string_view completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return "";
}

}  // namespace rota::client
