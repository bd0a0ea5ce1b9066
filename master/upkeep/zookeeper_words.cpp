#include "master/upkeep/zookeeper_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rota::master {
namespace {

constexpr std::size_t kMostNamed = 3;  // the node that says this to others is bounded

std::string named(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNamed, names.size()));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > kMostNamed) text += fmt::format(" and {} more", names.size() - kMostNamed);
  return text;
}

}  // namespace

std::string zookeeper_word(const ZookeeperFindings& findings) {
  if (!findings.is_connected) return "not connected; scheduling goes on";
  std::vector<std::string> words;
  if (!findings.awaited.empty()) {
    const std::size_t missing = findings.awaited.size();
    words.push_back(fmt::format("it lost data, or came back with older ones; {} of the workers known "
                                "before {} not registered again yet: {}",
                                missing, missing == 1 ? "is" : "are", named(findings.awaited)));
  }
  if (!findings.ownerless.empty()) {
    const bool one = findings.ownerless.size() == 1;
    words.push_back(fmt::format("{} node{} that no session owns count{} as nobody: delete the node{} {}",
                                findings.ownerless.size(), one ? "" : "s", one ? "s" : "",
                                one ? "" : "s", named(findings.ownerless)));
  }
  return words.empty() ? "ok" : fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace rota::master
