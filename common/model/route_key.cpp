#include "common/model/route_key.h"

#include "common/model/template_text.h"

namespace rota::model {
namespace {

constexpr std::string_view kPrefix = "param.";

}  // namespace

Result<void> check_route_key(std::string_view key) {
  const auto is_known = [](std::string_view name) {
    return name.starts_with(kPrefix) && name.size() > kPrefix.size();
  };
  const auto problem = template_problem(key, is_known, "{{param.NAME}}");
  if (problem) return fail(ErrorCode::InvalidArgument, "route_key: " + problem->text);
  return {};
}

std::string filled_route_key(std::string_view key, const std::map<std::string, std::string>* values) {
  return expanded_template(key, [values](std::string_view name) -> std::string {
    if (values == nullptr || !name.starts_with(kPrefix)) return {};
    const auto found = values->find(std::string(name.substr(kPrefix.size())));
    return found == values->end() ? std::string() : found->second;
  });
}

}  // namespace rota::model
