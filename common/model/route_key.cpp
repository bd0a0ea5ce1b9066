#include "common/model/route_key.h"

namespace rota::model {
namespace {

constexpr std::string_view kOpens = "{{", kLiteral = "{{{{", kCloses = "}}", kPrefix = "param.";

/// Gives each piece of plain text to `plain` and each name in braces to `name`. False: braces stay open.
template <typename Plain, typename Name>
bool walk(std::string_view left, Plain&& plain, Name&& name) {
  while (true) {
    const auto at = left.find(kOpens);
    plain(left.substr(0, at));
    if (at == std::string_view::npos) return true;
    left.remove_prefix(at);
    if (left.starts_with(kLiteral)) {
      plain(kOpens);
      left.remove_prefix(kLiteral.size());
      continue;
    }
    const auto end = left.find(kCloses);
    if (end == std::string_view::npos) return false;
    name(left.substr(kOpens.size(), end - kOpens.size()));
    left.remove_prefix(end + kCloses.size());
  }
}

}  // namespace

Result<void> check_route_key(std::string_view key) {
  std::string unknown;
  const auto look = [&unknown](std::string_view name) {
    const bool is_known = name.starts_with(kPrefix) && name.size() > kPrefix.size();
    if (!is_known && unknown.empty()) unknown = "{{" + std::string(name) + "}}";
  };
  const bool is_closed = walk(key, [](std::string_view) {}, look);
  if (!unknown.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "route_key: " + unknown + " is not known here; write {{param.NAME}}, or {{{{ for two braces");
  }
  if (!is_closed) {
    return fail(ErrorCode::InvalidArgument,
                "route_key: {{ is not closed; write {{param.NAME}}, or {{{{ for two braces");
  }
  return {};
}

std::string filled_route_key(std::string_view key, const std::map<std::string, std::string>* values) {
  std::string out;
  const auto fill = [&out, values](std::string_view name) {
    if (values == nullptr || !name.starts_with(kPrefix)) return;
    const auto found = values->find(std::string(name.substr(kPrefix.size())));
    if (found != values->end()) out += found->second;
  };
  walk(key, [&out](std::string_view text) { out += text; }, fill);
  return out;
}

}  // namespace rota::model
