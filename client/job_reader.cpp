#include "client/job_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "client/retry_reader.h"
#include "common/base/utf8.h"
#include "common/model/job_fields.h"
#include "common/wire/field_rules.h"
#include "common/wire/job_names.h"

namespace rota::client {
namespace {

using config::MapReader;
using config::YamlNode;
using model::FieldKind;
using model::FieldsOf;

/// Read by job_file.cpp; so is the whole group `schedule`, by schedule_reader.cpp.
constexpr std::string_view kOwnSyntax[] = {"name", "command"};
/// Keys of the job that an entry of its schedule may have too.
constexpr std::string_view kAlsoOfEntries[] = {"name", "time_zone", "start", "end"};

bool has_short_form(std::string_view group) {
  return std::ranges::any_of(model::kKeyGroups,
                             [&](const auto& one) { return one.key == group && one.has_short_form; });
}

template <typename Row>
void read_choice(MapReader& map, std::string_view key, const Row& row, std::string& into) {
  const YamlNode* node = map.node(key);
  if (node != nullptr && node->kind == YamlNode::Kind::Scalar && node->text == row.spelling.on_wire) {
    into = node->text;  // the wire's spelling is read as well
    return;
  }
  if (const auto word = map.one_of(key, wire::words_in_file(row))) into = wire::word_on_wire(row, *word);
}

template <typename Row>
void read_duration(MapReader& map, std::string_view key, const Row& row, std::int64_t& into) {
  const YamlNode* node = map.node(key);
  const bool is_word = node != nullptr && node->kind == YamlNode::Kind::Scalar;
  if (row.or_forever && is_word && node->text == "forever") {
    into = model::kKeepForEver.count();
  } else if (const auto time = map.duration(key, Millis{row.low}, Millis{row.high})) {
    into = time->count();
  }
}

/// `cpus: 0.5`: cores, down to thousandths.
template <typename Row>
void read_cores(MapReader& map, std::string_view key, const Row& row, std::int32_t& into) {
  const auto low = static_cast<double>(row.low), high = static_cast<double>(row.high);
  const auto cores = map.number(key, low / 1000, high / 1000);
  if (!cores) return;
  const double thousandths = std::round(*cores * 1000);
  if (std::abs(*cores * 1000 - thousandths) > 1e-6) {
    return map.refuse(key, fmt::format("{} is finer than a thousandth of a core; write {}", *cores,
                                       thousandths / 1000));
  }
  into = static_cast<std::int32_t>(thousandths);
}

/// `umask: 027`: octal, however it is quoted.
void read_octal(MapReader& map, std::string_view key, std::int32_t& into) {
  const auto text = map.text(key);
  if (!text) return;
  const bool is_octal = (text->size() == 3 || (text->size() == 4 && text->front() == '0')) &&
                        text->find_first_not_of("01234567") == std::string::npos;
  if (!is_octal) {
    return map.refuse(key, fmt::format("{} is no {}; write three octal digits, like 027",
                                       quoted_text(*text, 20), key));
  }
  into = 0;
  for (const char digit : *text) into = into * 8 + (digit - '0');
}

template <typename Row>
void read_text(MapReader& map, std::string_view key, const Row& row, std::string& into) {
  auto text = map.text(key);
  if (!text) return;
  std::string problem = wire::text_problem(row, *text);
  if (!problem.empty()) map.refuse(key, std::move(problem));
  into = std::move(*text);
}

template <typename Row, typename WireStruct>
void read_value(MapReader& map, std::string_view key, const Row& row, WireStruct& into_struct) {
  constexpr FieldKind kKind = Row::kind;
  auto& into = row.on_wire(into_struct);
  using Value = std::decay_t<decltype(into)>;
  if constexpr (kKind == FieldKind::Choice) {
    read_choice(map, key, row, into);
  } else if constexpr (kKind == FieldKind::Duration) {
    read_duration(map, key, row, into);
  } else if constexpr (kKind == FieldKind::Cores) {
    read_cores(map, key, row, into);
  } else if constexpr (kKind == FieldKind::Octal) {
    read_octal(map, key, into);
  } else if constexpr (kKind == FieldKind::Text) {
    if (row.lines == model::LineForm::Again) return read_again(map, key, into);
    read_text(map, key, row, into);
  } else if constexpr (kKind == FieldKind::Whole) {
    if (const auto number = map.integer(key, row.low, row.high)) into = static_cast<Value>(*number);
  } else if constexpr (kKind == FieldKind::Number) {
    const auto low = static_cast<double>(row.low), high = static_cast<double>(row.high);
    if (const auto number = map.number(key, low, high)) into = *number;
  } else if constexpr (kKind == FieldKind::Size) {
    if (const auto size = map.size(key, row.low, row.high)) into = *size;
  } else if constexpr (kKind == FieldKind::Moment) {
    if (const auto moment = map.moment(key)) {
      into = to_ms(*moment);
      row.mark_set(into_struct);
    }
  } else if constexpr (kKind == FieldKind::Texts) {
    if (row.lines == model::LineForm::Ends) return read_ends(map, key, into);
    if (auto texts = map.texts(key)) into = std::move(*texts);
  } else if constexpr (kKind == FieldKind::CountMap) {
    const auto low = static_cast<std::int32_t>(row.low), high = static_cast<std::int32_t>(row.high);
    if (auto counts = map.count_map(key, low, high, model::kMaxUses)) into = std::move(*counts);
  } else if constexpr (kKind == FieldKind::AmountMap) {
    if (auto amounts = map.amount_map(key, row.low, row.high, model::kMaxAmounts)) into = std::move(*amounts);
  } else {
    static_assert(kKind == FieldKind::TextMap);
    auto texts = row.is_of_words ? map.word_map(key) : map.text_map(key);
    if (texts) into = std::move(*texts);
  }
}

template <typename Row, typename WireStruct>
void read_row(JobMaps& maps, const Row& row, WireStruct& into) {
  if (std::ranges::find(kOwnSyntax, row.key) != std::end(kOwnSyntax) || row.group() == "schedule") return;
  if (row.is_short_form && maps.is_short(row.group())) {
    return read_value(maps.top(), row.group(), row, into);
  }
  MapReader* map = maps.group(row.group());
  if (map == nullptr) return;
  if (!row.former.empty()) map->refuse_former(row.former, row.leaf());
  read_value(*map, row.leaf(), row, into);
}

template <typename Struct, typename WireStruct>
void read_struct(JobMaps& maps, FieldsOf<Struct> fields, WireStruct& into) {
  model::for_each_field(fields, [&](const auto& row) {
    using Row = std::decay_t<decltype(row)>;
    if constexpr (Row::kind == FieldKind::Group) {
      read_struct(maps, FieldsOf<typename Row::value_type>{}, row.on_wire(into));
    } else {
      read_row(maps, row, into);
    }
  });
}

}  // namespace

JobMaps::JobMaps(const YamlNode& node, const std::string& source, const std::string& path,
                 config::Problems& problems)
    : source_(source), problems_(problems), top_(node, source, path, problems) {}

bool JobMaps::is_short(std::string_view key) {
  const YamlNode* node = top_.node(key);
  return node != nullptr && node->kind == YamlNode::Kind::Scalar && has_short_form(key);
}

MapReader* JobMaps::group(std::string_view key) {
  if (key.empty()) return &top_;
  const auto found = std::ranges::find(groups_, key, &Opened::key);
  if (found != groups_.end()) return &found->map;
  const YamlNode* node = top_.node(key);
  const bool is_list = key == "schedule" && node != nullptr && node->kind == YamlNode::Kind::List;
  if (node == nullptr || is_short(key) || is_list) return nullptr;
  groups_.push_back({key, MapReader(*node, source_, top_.path_of(key), problems_)});
  return &groups_.back().map;
}

void JobMaps::refuse_unknown() {
  top_.refuse_unknown();
  for (Opened& one : groups_) one.map.refuse_unknown();
}

void read_fields(JobMaps& maps, thrift::JobDefinition& into) {
  read_struct(maps, FieldsOf<model::JobDefinition>{}, into);
}

void refuse_keys_of_the_job(const YamlNode& node, MapReader& map, std::string_view group) {
  model::for_each_row(FieldsOf<model::JobDefinition>{}, [&](const auto& row) {
    if (!row.group().empty() || node.find(row.key) == nullptr) return;
    if (std::ranges::find(kAlsoOfEntries, row.key) != std::end(kAlsoOfEntries)) return;
    (void)map.has(row.key);  // told here, so it is no unknown key as well
    map.refuse(row.key, fmt::format("is a key of the job: write `{}:` beside `{}:`, not in it", row.key,
                                    group));
  });
}

}  // namespace rota::client
