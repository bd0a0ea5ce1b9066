// Which workers a job's `select` means, by their labels. A value names one or several words with commas
// between them, of which the worker's label is one. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rota::model {

/// "a, b": asks of each until the answer is true; whether it was.
template <typename Ask>
bool any_word_of(std::string_view words, Ask ask) {
  while (true) {
    const auto comma = words.find(',');
    std::string_view first = words.substr(0, comma);
    while (first.starts_with(' ')) first.remove_prefix(1);
    while (first.ends_with(' ')) first.remove_suffix(1);
    if (ask(first)) return true;
    if (comma == std::string_view::npos) return false;
    words.remove_prefix(comma + 1);
  }
}

/// "a, b": one of them is the word.
inline bool is_one_of(std::string_view words, std::string_view word) {
  return any_word_of(words, [word](std::string_view each) { return each == word; });
}

inline std::vector<std::string> words_of(std::string_view words) {
  std::vector<std::string> out;
  any_word_of(words, [&out](std::string_view each) {
    out.emplace_back(each);
    return false;
  });
  return out;
}

inline bool are_selected(const std::map<std::string, std::string>& labels,
                         const std::map<std::string, std::string>& select) {
  return std::ranges::all_of(select, [&labels](const auto& wanted) {
    const auto found = labels.find(wanted.first);
    return found != labels.end() && is_one_of(wanted.second, found->second);
  });
}

}  // namespace rota::model
