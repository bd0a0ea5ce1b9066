#include "common/wire/field_rules.h"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "common/model/semaphore.h"
#include "common/wire/text_rules.h"

namespace rota::wire {
namespace {

using model::FieldFacts;
using model::FieldKind;
using model::TextForm;

std::string plain_problem(std::string_view text, std::size_t longest) {
  if (text.size() > longest) {
    return fmt::format("{} bytes, at most {} are allowed", text.size(), longest);
  }
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
    return fmt::format("{} is not valid UTF-8 text; encode it", quoted_text(text));
  }
  return {};
}

std::string word_problem(std::string_view text, std::size_t longest) {
  if (is_word(text) && text.size() <= longest) return {};
  return fmt::format("{} must be 1 to {} letters, digits, '_', '-' or '.'", quoted_text(text), longest);
}

std::string name_problem(std::string_view name, std::size_t longest) {
  if (name.empty()) return "it is empty; write a name, or remove it";
  if (name.size() > longest) {
    return fmt::format("{} is {} bytes long, at most {} are allowed", quoted_text(name), name.size(),
                       longest);
  }
  if (!is_printable(name)) {
    return fmt::format("{} holds a control character or is not UTF-8; use printable text", quoted_text(name));
  }
  if (name.front() == ' ' || name.back() == ' ') {
    return fmt::format("{} begins or ends with a space; remove it", quoted_text(name));
  }
  return {};
}

std::string path_problem(std::string_view path, std::size_t longest) {
  if (std::string problem = plain_problem(path, longest); !problem.empty()) return problem;
  if (path.starts_with('/')) return {};
  return fmt::format("{} is not absolute; begin it with '/'", quoted_text(path));
}

/// Inline, since nearly all values are: the leader looks at each field of each definition that comes in.
constexpr bool is_allowed(const FieldFacts& row, std::int64_t value) {
  return (value >= row.low && value <= row.high) || (value == 0 && row.or_none) ||
         (value == -1 && row.or_forever);
}

/// In what the wire counts it, for messages.
std::string_view unit_of(FieldKind kind, const FieldFacts& row) {
  switch (kind) {
    case FieldKind::Duration: return "ms";
    case FieldKind::Size: return "bytes";
    case FieldKind::Cores: return "thousandths of a core";
    default: return row.unit;
  }
}

class Finder {
 public:
  explicit Finder(std::vector<std::string>& problems) : problems_(problems) {}

  template <typename Struct>
  void look_at(const Struct& from) {
    model::for_each_field(model::FieldsOf<Struct>{}, [&](const auto& row) { look_at(row, row.in(from)); });
  }

  template <typename Row, typename Value>
  void look_at(const Row& row, const Value& value) {
    constexpr FieldKind kKind = Row::kind;
    if constexpr (kKind == FieldKind::Group) {
      look_at(value);
    } else if constexpr (kKind == FieldKind::Duration) {
      look_at_whole(row, value.count());
    } else if constexpr (std::is_integral_v<Value>) {
      look_at_whole(row, value);
    } else if constexpr (kKind == FieldKind::Number) {
      add(row, number_problem(row, value));
    } else if constexpr (kKind == FieldKind::Text) {
      add(row, text_problem(row, value));
    } else if constexpr (kKind == FieldKind::Texts) {
      add(list_problems(row, value));
    } else if constexpr (kKind == FieldKind::TextMap) {
      add(map_problems(row, value));
    } else if constexpr (kKind == FieldKind::CountMap) {
      add(count_problems(row, value));
    } else if constexpr (kKind == FieldKind::AmountMap) {
      add(amount_problems(row, value));
    } else {
      static_assert(kKind == FieldKind::Choice || kKind == FieldKind::Moment, "checked where they are read");
    }
  }

 private:
  template <typename Row>
  void look_at_whole(const Row& row, std::int64_t value) {
    if (!is_allowed(row, value)) add(row, whole_problem(row, value, unit_of(Row::kind, row)));
  }

  void add(const FieldFacts& row, const std::string& problem) {
    if (!problem.empty()) problems_.push_back(fmt::format("{}: {}", row.key, problem));
  }
  void add(const std::vector<std::string>& problems) {
    problems_.insert(problems_.end(), problems.begin(), problems.end());
  }

  std::vector<std::string>& problems_;
};

}  // namespace

std::string whole_problem(const FieldFacts& row, std::int64_t value, std::string_view unit) {
  if (is_allowed(row, value)) return {};
  return fmt::format("{} is out of range, allowed are {} to {}{}{}", value, row.low, row.high,
                     unit.empty() ? "" : " ", unit);
}

std::string number_problem(const FieldFacts& row, double value) {
  const bool is_within = value >= static_cast<double>(row.low) && value <= static_cast<double>(row.high);
  if (std::isfinite(value) && is_within) return {};
  return fmt::format("{} is out of range, allowed are {} to {}", value, row.low, row.high);
}

std::string text_problem(const FieldFacts& row, std::string_view text) {
  if (text.empty() && row.or_none) return {};
  const std::size_t longest = row.bytes;
  switch (row.form) {
    case TextForm::Plain: break;
    case TextForm::Word: return word_problem(text, longest);
    case TextForm::Name: return name_problem(text, longest);
    case TextForm::Path: return path_problem(text, longest);
  }
  return plain_problem(text, longest);
}

std::vector<std::string> list_problems(const FieldFacts& row, const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  const auto most = static_cast<std::size_t>(row.high);
  if (texts.size() > most) {
    out.push_back(fmt::format("{}: {} {}, at most {} are allowed", row.key, texts.size(),
                              row.unit.empty() ? "entries" : row.unit, most));
  }
  for (std::size_t i = 0; i < texts.size() && i < most; ++i) {
    const std::string problem = text_problem(row, texts[i]);
    if (!problem.empty()) out.push_back(fmt::format("{}[{}]: {}", row.key, i, problem));
  }
  return out;
}

std::vector<std::string> map_problems(const FieldFacts& row,
                                      const std::map<std::string, std::string>& texts) {
  std::vector<std::string> out;
  if (texts.size() > kMaxEntries) {
    out.push_back(
        fmt::format("{}: {} entries, at most {} are allowed", row.key, texts.size(), kMaxEntries));
  }
  for (const auto& [key, value] : texts) {
    if (key.empty() || key.size() > model::kMaxNameBytes || !is_printable(key)) {
      out.push_back(fmt::format("{}: the name {} must be 1 to {} bytes of printable text", row.key,
                                quoted_text(key), model::kMaxNameBytes));
    } else if (const std::string problem = text_problem(row, value); !problem.empty()) {
      out.push_back(fmt::format("{}.{}: {}", row.key, key, problem));
    }
  }
  return out;
}

namespace {

template <typename Number>
std::vector<std::string> numbers_problems(const FieldFacts& row, const std::map<std::string, Number>& counts,
                                          std::size_t most) {
  std::vector<std::string> out;
  if (counts.size() > most) {
    out.push_back(fmt::format("{}: {} entries, at most {} are allowed", row.key, counts.size(), most));
  }
  FieldFacts name = row;
  name.form = model::TextForm::Word;
  for (const auto& [key, count] : counts) {
    if (const std::string problem = text_problem(name, key); !problem.empty()) {
      out.push_back(fmt::format("{}: the name {}", row.key, problem));
    } else if (const std::string wrong = whole_problem(row, count, ""); !wrong.empty()) {
      out.push_back(fmt::format("{}.{}: {}", row.key, key, wrong));
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> count_problems(const FieldFacts& row,
                                        const std::map<std::string, std::int32_t>& counts) {
  return numbers_problems(row, counts, model::kMaxUses);
}

std::vector<std::string> amount_problems(const FieldFacts& row,
                                         const std::map<std::string, std::int64_t>& amounts) {
  return numbers_problems(row, amounts, model::kMaxAmounts);
}

template <typename Struct>
void find_field_problems(const Struct& from, std::vector<std::string>& problems) {
  Finder(problems).look_at(from);
}

template void find_field_problems(const model::JobRules&, std::vector<std::string>&);
template void find_field_problems(const model::JobWork&, std::vector<std::string>&);

void find_own_problems(const model::JobDefinition& definition, std::vector<std::string>& problems) {
  Finder finder(problems);
  model::for_each_field(model::FieldsOf<model::JobDefinition>{}, [&](const auto& row) {
    constexpr bool kIsGroup = std::decay_t<decltype(row)>::kind == FieldKind::Group;
    if constexpr (!kIsGroup) finder.look_at(row, row.in(definition));
  });
}

}  // namespace rota::wire
