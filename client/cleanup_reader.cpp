#include "client/cleanup_reader.h"

#include <fmt/format.h>

#include "common/model/template_text.h"

namespace rota::client {

using config::YamlNode;

void check_cleanup(const YamlNode& job, const thrift::Work& work, const std::string& source,
                   const std::string& path, config::Problems& problems) {
  const YamlNode* list = job.find("cleanup");
  if (list == nullptr || list->kind != YamlNode::Kind::List) return;
  if (list->items.empty()) {
    problems.add(source, list->mark, path, "the list is empty; give the program first, or remove the key");
  }
  for (std::size_t at = 0; at < list->items.size(); ++at) {
    const YamlNode& word = list->items[at];
    if (word.kind != YamlNode::Kind::Scalar) continue;
    const auto problem = model::cleanup_problem(word.text, work.parameters);
    if (!problem) continue;
    config::Mark mark = word.mark;
    const bool is_one_line = word.text.find('\n') == std::string::npos;
    if (is_one_line) mark.column += static_cast<int>(problem->at) + (word.quoted ? 1 : 0);
    problems.add(source, mark, fmt::format("{}[{}]", path, at), problem->text);
  }
}

}  // namespace rota::client
