// Texts with {{NAME}} in them, as words of a job's `cleanup` have: what names they hold, and the text with
// values in their place. "{{{{" is a literal "{{". Pure; constant time a byte.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"

namespace rota::model {

/// What is wrong with a template, for its author.
struct TemplateProblem {
  std::size_t at = 0;  ///< bytes before its "{{"
  std::string text;
};

/// The first problem: a name that `is_known` denies, or braces that stay open. `allowed` says in words what
/// may stand there.
std::optional<TemplateProblem> template_problem(std::string_view text,
                                                const std::function<bool(std::string_view)>& is_known,
                                                std::string_view allowed);

/// The text with the value of each name. Braces that stay open, and what is behind them, stay as they are.
std::string expanded_template(std::string_view text,
                              const std::function<std::string(std::string_view)>& value_of);

/// What is wrong with one word of `cleanup`: it knows {{run}}, {{attempt}}, and {{param.X}} for each X of the
/// job's own `parameters`, so that no name stands for nothing.
std::optional<TemplateProblem> cleanup_problem(std::string_view word,
                                               const std::map<std::string, std::string>& parameters);

/// The words of `cleanup` for one attempt; `parameters`: of its run, laid over the job's.
std::vector<std::string> expanded_cleanup(const std::vector<std::string>& words, RunId run, AttemptNo attempt,
                                          const std::map<std::string, std::string>& parameters);

}  // namespace rota::model
