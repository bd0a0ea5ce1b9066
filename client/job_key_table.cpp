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
      add_entry_keys();
    }
  }

  /// Those of an entry that have no row of their own.
  void add_entry_keys() {
    std::string& lines = block_of("schedule");
    lines += line_of("schedule.working_day",
                     "the n-th day of the month from Monday to Friday; `-1` is the last one",
                     "`-31` to `31`, not `0`", "none");
    lines += line_of("schedule.after_end", "so long after the end of the last run", "a duration", "none");
    lines += line_of("schedule.calendar",
                     "fires only on days that these calendars leave open; a map takes `use` (their names), "
                     "`otherwise` (`skip`, `next`, `previous`: what becomes of a tick on a closed day) and "
                     "`day` (`-1`: the day before the tick's is asked for)",
                     "a name, a list of names, or a map", "none");
    lines += line_of("schedule.jitter",
                     "the start comes up to this much later, always the same for one job; the tick stays "
                     "where it is",
                     "a duration up to `1d`", "`0`");
    lines += line_of("schedule.time", "of the working day", "`18:00` or `18:00:30`", "`00:00`");
    lines += line_of("schedule.between",
                     "fires only between these local times, both included; `22:00-06:00` runs "
                     "over midnight",
                     "`09:30-16:00`", "all day");
    lines += line_of("schedule.name", "told to the run as `ROTA_SCHEDULE`",
                     "1 to 64 of letters, digits, `_`, `-`, `.`", "its place in the list, from 1");
    lines += line_of("schedule.time_zone", "of this entry; `start` and `end` may stand here too",
                     "an IANA name", "the job's");
  }

  /// Where the first of its keys stands, behind a line of its own.
  std::string& block_of(std::string_view key) {
    const auto known = std::ranges::find(blocks_, key, &Block::group);
    if (known != blocks_.end()) return known->lines;
    const auto group = std::ranges::find(model::kKeyGroups, key, &model::KeyGroup::key);
    const bool may_be_list = key == "schedule";
    const char* values = may_be_list             ? "a line, a map, or a list of both"
                         : group->has_short_form ? "one value, or a map"
                                                 : "a map";
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
