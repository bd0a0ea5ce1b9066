#include "common/model/template_text.h"

namespace rota::model {
namespace {

constexpr std::string_view kOpens = "{{", kLiteral = "{{{{", kCloses = "}}", kParameter = "param.";

/// Gives each plain piece to `plain`, each name to `name` with the place of its braces. npos, or the place
/// of braces that stay open; then the rest was given to `plain`.
template <typename Plain, typename Name>
std::size_t walk(std::string_view text, Plain&& plain, Name&& name) {
  std::size_t at = 0;
  while (true) {
    const std::size_t opens = text.find(kOpens, at);
    plain(text.substr(at, opens == std::string_view::npos ? opens : opens - at));
    if (opens == std::string_view::npos) return opens;
    if (text.substr(opens).starts_with(kLiteral)) {
      plain(kOpens);
      at = opens + kLiteral.size();
      continue;
    }
    const std::size_t begin = opens + kOpens.size();
    const std::size_t closes = text.find(kCloses, begin);
    if (closes == std::string_view::npos) {
      plain(text.substr(opens));
      return opens;
    }
    name(text.substr(begin, closes - begin), opens);
    at = closes + kCloses.size();
  }
}

bool is_cleanup_name(std::string_view name, const std::map<std::string, std::string>& parameters) {
  if (name == "run" || name == "attempt") return true;
  return name.starts_with(kParameter) && parameters.contains(std::string(name.substr(kParameter.size())));
}

}  // namespace

std::optional<TemplateProblem> template_problem(std::string_view text,
                                                const std::function<bool(std::string_view)>& is_known,
                                                std::string_view allowed) {
  std::optional<TemplateProblem> first;
  const std::string remedy = "; write " + std::string(allowed) + ", or {{{{ for two braces";
  const auto look = [&](std::string_view name, std::size_t at) {
    if (first || is_known(name)) return;
    first = TemplateProblem{at, "{{" + std::string(name) + "}} is not known here" + remedy};
  };
  const std::size_t open = walk(text, [](std::string_view) {}, look);
  if (!first && open != std::string_view::npos) first = TemplateProblem{open, "{{ is not closed" + remedy};
  return first;
}

std::string expanded_template(std::string_view text,
                              const std::function<std::string(std::string_view)>& value_of) {
  std::string out;
  walk(text, [&out](std::string_view plain) { out += plain; },
       [&](std::string_view name, std::size_t) { out += value_of(name); });
  return out;
}

std::optional<TemplateProblem> cleanup_problem(std::string_view word,
                                               const std::map<std::string, std::string>& parameters) {
  return template_problem(word, [&](std::string_view name) { return is_cleanup_name(name, parameters); },
                          "{{run}}, {{attempt}} or {{param.NAME}} of a parameter that the job gives");
}

std::vector<std::string> expanded_cleanup(const std::vector<std::string>& words, RunId run, AttemptNo attempt,
                                          const std::map<std::string, std::string>& parameters) {
  const auto value_of = [&](std::string_view name) -> std::string {
    if (name == "run") return std::to_string(run.value);
    if (name == "attempt") return std::to_string(attempt);
    if (!name.starts_with(kParameter)) return {};
    const auto found = parameters.find(std::string(name.substr(kParameter.size())));
    return found == parameters.end() ? std::string() : found->second;
  };
  std::vector<std::string> out;
  out.reserve(words.size());
  for (const std::string& word : words) out.push_back(expanded_template(word, value_of));
  return out;
}

}  // namespace rota::model
