// Writes a definition as the job file that read_job_file reads as the same.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/field_text.h"
#include "client/job_file.h"
#include "client/retry_reader.h"
#include "client/schedule_reader.h"

namespace rota::client {
namespace {

using model::FieldKind;
using model::FieldsOf;

/// YAML lets a key of at most 1024 characters stand before its colon without a sign of its own.
constexpr std::size_t kLongestPlainKey = 1000;

/// A JSON string is a valid YAML scalar, whatever it holds.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The lines of a job file, in the order in which they come; what belongs to a group stands where its first
/// line came.
class Lines {
 public:
  /// A value in one line, or, of a map, lines of their own (which begin with a line break).
  void add(std::string_view group, std::string_view key, std::string value, bool is_short_form) {
    place_of(group).push_back({key, std::move(value), is_short_form});
  }
  std::string text() const {
    std::string out;
    for (const Place& place : places_) append(out, place);
    return out;
  }

 private:
  struct Line {
    std::string_view key;
    std::string value;
    bool is_short_form;
  };
  struct Place {
    std::string_view group;
    std::vector<Line> lines;
  };

  std::vector<Line>& place_of(std::string_view group) {
    const auto found = std::ranges::find(places_, group, &Place::group);
    if (!group.empty() && found != places_.end()) return found->lines;
    const bool goes_on = group.empty() && !places_.empty() && places_.back().group.empty();
    if (!goes_on) places_.push_back({group, {}});
    return places_.back().lines;
  }

  static void append(std::string& out, const Place& place) {
    const bool is_short = place.lines.size() == 1 && place.lines.front().is_short_form;
    if (is_short) out += fmt::format("{}: {}\n", place.group, place.lines.front().value);
    if (is_short) return;
    if (!place.group.empty()) out += fmt::format("{}:\n", place.group);
    const char* indent = place.group.empty() ? "" : "  ";
    for (const Line& line : place.lines) {
      const char* gap = line.value.starts_with('\n') ? "" : " ";
      out += fmt::format("{}{}:{}{}\n", indent, line.key, gap, line.value);
    }
  }

  std::vector<Place> places_;
};

std::string list_text(const std::vector<std::string>& values) {
  std::string line;
  for (const std::string& value : values) line += (line.empty() ? "" : ", ") + quoted(value);
  return fmt::format("[{}]", line);
}

std::string map_text(const std::map<std::string, std::string>& values, std::string_view indent) {
  std::string out;
  for (const auto& [name, value] : values) {
    const std::string key = quoted(name);
    const char* form = key.size() <= kLongestPlainKey ? "\n{0}  {1}: {2}" : "\n{0}  ? {1}\n{0}  : {2}";
    out += fmt::format(fmt::runtime(form), indent, key, quoted(value));
  }
  return out;
}

/// A word as job files have it; one that is not known here, of a newer master, as it is.
template <typename Row>
std::string word_text(const Row& row, const std::string& on_wire) {
  const std::string word(wire::word_in_file(row, on_wire));
  return wire::named<typename Row::value_type>(on_wire) ? word : quoted(word);
}

template <typename Row, typename Value>
std::string value_text(const Row& row, const Value& value) {
  constexpr FieldKind kKind = Row::kind;
  if constexpr (kKind == FieldKind::Choice) {
    return word_text(row, value);
  } else if constexpr (kKind == FieldKind::Octal) {
    return quoted(number_in_file(row, value));
  } else if constexpr (kKind == FieldKind::Number) {
    return fmt::format("{}", value);
  } else if constexpr (kKind == FieldKind::Moment) {
    return format_moment(wall_from_ms(value));
  } else if constexpr (kKind == FieldKind::Text) {
    return row.lines == model::LineForm::Again ? again_in_file(value) : quoted(value);
  } else if constexpr (kKind == FieldKind::Texts) {
    return row.lines == model::LineForm::Ends ? ends_in_file(value) : list_text(value);
  } else if constexpr (kKind == FieldKind::TextMap) {
    return map_text(value, row.group().empty() ? "" : "  ");
  } else if constexpr (kKind == FieldKind::CountMap) {
    std::vector<std::string> counts;
    for (const auto& [name, count] : value) counts.push_back(fmt::format("{}: {}", quoted(name), count));
    return fmt::format("{{{}}}", fmt::join(counts, ", "));
  } else if constexpr (kKind == FieldKind::AmountMap) {
    std::vector<std::string> amounts;
    for (const auto& [name, amount] : value) {
      amounts.push_back(fmt::format("{}: {}", quoted(name), format_size(amount)));
    }
    return fmt::format("{{{}}}", fmt::join(amounts, ", "));
  } else {
    return value < 0 && row.or_forever ? "forever" : number_in_file(row, value);
  }
}

class JobWriter {
 public:
  explicit JobWriter(const thrift::JobDefinition& job) : job_(job) {}

  std::string text() {
    lines_.add("", "name", quoted(job_.name), false);
    add_struct(FieldsOf<model::JobDefinition>{}, job_);
    return lines_.text();
  }

 private:
  template <typename Struct, typename WireStruct>
  void add_struct(FieldsOf<Struct> fields, const WireStruct& from) {
    const WireStruct plain;
    model::for_each_field(fields, [&](const auto& row) {
      using Row = std::decay_t<decltype(row)>;
      if constexpr (Row::kind == FieldKind::Group) {
        add_struct(FieldsOf<typename Row::value_type>{}, row.on_wire(from));
      } else if (row.key == "schedule.entries") {
        const std::string lines = entries_in_file(job_.rules.schedule.entries);
        if (!lines.empty()) lines_.add("", "schedule", lines, false);
      } else if (is_written(row, from, plain)) {
        const bool is_at = row.key == "start" && job_.rules.schedule.kind == "once";
        lines_.add(is_at ? "schedule" : row.group(), is_at ? "at" : row.leaf(),
                   value_text(row, row.on_wire(from)), row.is_short_form);
      }
    });
  }

  /// What differs from its default; and what says when and where it runs, of which one key means another.
  template <typename Row, typename WireStruct>
  bool is_written(const Row& row, const WireStruct& from, const WireStruct& plain) const {
    const thrift::Schedule& schedule = job_.rules.schedule;
    if (row.key == "name" || row.key == "schedule.kind") return false;
    if (row.key == "schedule.cron") return schedule.kind == "cron";
    if (row.key == "schedule.every") return schedule.kind == "fixed_rate";
    if (row.key == "start" && schedule.kind == "once") return true;
    if (row.group() == "schedule" && (schedule.kind == "none" || schedule.kind == "entries")) return false;
    if (row.key == "route" && !job_.rules.worker.empty()) return false;
    if constexpr (Row::kind == FieldKind::Moment) {
      return row.is_set(from);
    } else {
      return row.on_wire(from) != row.on_wire(plain);
    }
  }

  const thrift::JobDefinition& job_;
  Lines lines_;
};

}  // namespace

std::string job_file_text(const thrift::JobDefinition& definition) { return JobWriter(definition).text(); }

}  // namespace rota::client
