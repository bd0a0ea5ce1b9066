// The table of the keys of job files in docs/jobs.md.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "client/field_text.h"
#include "client/job_schema.h"

namespace rota::client {
namespace {

using model::FieldKind;
using model::FieldsOf;

template <typename Row, typename Value>
std::string default_of(const Row& row, const Value& value) {
  if (!row.unset.empty()) return std::string(row.unset);
  if constexpr (Row::kind == FieldKind::Choice) {
    return fmt::format("`{}`", wire::word_in_file(row, wire::name_of(value)));
  } else if constexpr (Row::kind == FieldKind::Duration) {
    return fmt::format("`{}`", number_in_file(row, value.count()));
  } else if constexpr (std::is_integral_v<Value>) {
    return fmt::format("`{}`", number_in_file(row, value));
  } else if constexpr (Row::kind == FieldKind::Text || Row::kind == FieldKind::Number) {
    return fmt::format("`{}`", value);
  } else {
    return "none";
  }
}

class KeyTable {
 public:
  template <typename Struct>
  void add_struct(const Struct& plain) {
    model::for_each_field(FieldsOf<Struct>{}, [&](const auto& row) {
      if constexpr (std::decay_t<decltype(row)>::kind == FieldKind::Group) {
        add_struct(row.in(plain));
      } else if (!row.help.empty()) {
        add_row(row, default_of(row, row.in(plain)));
      }
    });
  }

  std::string text() const {
    std::string out = "| key | meaning | value | when left out |\n|---|---|---|---|\n";
    for (const Block& block : blocks_) out += block.lines;
    return out;
  }

 private:
  /// A key of the job, or a group with its keys.
  struct Block {
    std::string_view group;
    std::string lines;
  };

  template <typename Row>
  void add_row(const Row& row, const std::string& standard) {
    const std::string line = line_of(row.key, help_of(row), values_of(row), standard);
    if (row.key == "name") {
      blocks_.insert(blocks_.begin(), {"", line});  // what each job must have
    } else if (row.group().empty()) {
      blocks_.push_back({"", line});
    } else {
      block_of(row.group()) += line;
    }
    if (row.key == "schedule.every") {
      block_of("schedule") += line_of("schedule.at", "once, at that moment; one that is past does not fire",
                                      "a moment, `2026-03-29T02:30:00Z`", "none");
    }
  }

  /// Where the first of its keys stands, behind a line of its own.
  std::string& block_of(std::string_view key) {
    const auto known = std::ranges::find(blocks_, key, &Block::group);
    if (known != blocks_.end()) return known->lines;
    const auto group = std::ranges::find(model::kKeyGroups, key, &model::KeyGroup::key);
    const char* values = group->has_short_form ? "one value, or a map" : "a map";
    blocks_.push_back({key, line_of(key, group->help, values, group->unset)});
    return blocks_.back().lines;
  }

  static std::string line_of(std::string_view key, std::string_view help, std::string_view values,
                             std::string_view standard) {
    return fmt::format("| `{}` | {} | {} | {} |\n", key, help, values, standard);
  }

  std::vector<Block> blocks_;
};

}  // namespace

std::string job_key_table() {
  KeyTable table;
  table.add_struct(model::JobDefinition{});
  return table.text();
}

}  // namespace rota::client
