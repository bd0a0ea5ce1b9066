#include "client/job_schema.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/field_text.h"
#include "common/model/job_fields.h"
#include "common/model/retry_text.h"
#include "common/wire/job_names.h"

namespace rota::client {
namespace {

using Json = nlohmann::ordered_json;
using model::FieldFacts;
using model::FieldKind;
using model::FieldsOf;
using model::TextForm;

constexpr const char* kDuration = "^(0|(?=.)([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?)$";
constexpr const char* kSize = "^[0-9]+(KiB|MiB|GiB|TiB)?$";
constexpr const char* kMoment =
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:?[0-9]{2})$";

constexpr const char* kClock = "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$";
constexpr const char* kClocks =
    "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?-(([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?|24:00)$";

/// Job files take any single value as a text.
Json text_types() { return Json::array({"string", "number", "boolean"}); }

Json text_schema(const FieldFacts& row) {
  Json out = {{"type", text_types()}, {"maxLength", row.bytes}};
  const char* none = row.or_none ? "|^$" : "";
  if (row.form == TextForm::Word) out["pattern"] = fmt::format("^[A-Za-z0-9_.-]+${}", none);
  if (row.form == TextForm::Path) out["pattern"] = fmt::format("^/{}", none);
  if (row.form == TextForm::Name) out["pattern"] = "^[^ ](.*[^ ])?$";
  return out;
}

Json duration_schema(const FieldFacts& row) {
  Json kinds = Json::array({{{"type", "string"}, {"pattern", kDuration}}});
  if (row.low == 0) kinds.push_back({{"const", 0}});
  if (row.or_forever) kinds.push_back({{"const", "forever"}});
  return {{"anyOf", kinds}};
}

Json whole_schema(std::int64_t low, std::int64_t high) {
  return {{"type", "integer"}, {"minimum", low}, {"maximum", high}};
}

Json number_schema(double low, double high) {
  return {{"type", "number"}, {"minimum", low}, {"maximum", high}};
}

Json words_schema() {
  const Json word = {{"type", text_types()}, {"pattern", "^[^,]+$"}};
  const Json words = {{"type", text_types()}, {"minLength", 1}};
  return {{"anyOf", {words, {{"type", "array"}, {"minItems", 1}, {"items", word}}}}};
}

/// A number or a range like "100-110", or a list of them.
Json numbers_schema(std::int64_t high) {
  const Json range = {{"type", "string"}, {"pattern", "^[0-9]+(-[0-9]+)?$"}};
  const Json one = {{"anyOf", {whole_schema(1, high), range}}};
  return {{"anyOf", {one, {{"type", "array"}, {"minItems", 1}, {"maxItems", 32}, {"items", one}}}}};
}

Json map_schema(Json properties) {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

Json ends_schema(std::int64_t most) {
  Json exit = map_schema({{"exit", numbers_schema(255)}});
  Json signal = map_schema({{"signal", numbers_schema(64)}});
  exit["required"] = {"exit"};
  signal["required"] = {"signal"};
  const Json end = {{"anyOf", {{{"enum", model::end_words()}}, exit, signal}}};
  const Json list = {{"type", "array"}, {"minItems", 1}, {"maxItems", most}, {"items", end}};
  return {{"anyOf", {end, list}}};
}

Json again_schema() {
  const Json time = {{"type", "string"}, {"pattern", kDuration}};
  Json out = map_schema({{"exit", numbers_schema(255)}, {"every", time}, {"at_most", time}});
  out["required"] = {"exit"};
  return out;
}

/// The kind of value, without what it is for.
template <typename Row>
Json kind_schema(const Row& row) {
  constexpr FieldKind kKind = Row::kind;
  const auto low = static_cast<double>(row.low), high = static_cast<double>(row.high);
  if constexpr (kKind == FieldKind::Choice) {
    return {{"enum", wire::words_in_file(row)}};
  } else if constexpr (kKind == FieldKind::Whole) {
    return whole_schema(row.low, row.high);
  } else if constexpr (kKind == FieldKind::Number) {
    return number_schema(low, high);
  } else if constexpr (kKind == FieldKind::Cores) {
    return number_schema(low / 1000, high / 1000);
  } else if constexpr (kKind == FieldKind::Duration) {
    return duration_schema(row);
  } else if constexpr (kKind == FieldKind::Size) {
    return {{"anyOf", {{{"type", "string"}, {"pattern", kSize}}, whole_schema(row.low, row.high)}}};
  } else if constexpr (kKind == FieldKind::Octal) {
    return {{"anyOf", {{{"type", "string"}, {"pattern", "^0?[0-7]{3}$"}}, whole_schema(0, 777)}}};
  } else if constexpr (kKind == FieldKind::Moment) {
    return {{"type", "string"}, {"pattern", kMoment}};
  } else if constexpr (kKind == FieldKind::Text) {
    return row.lines == model::LineForm::Again ? again_schema() : text_schema(row);
  } else if constexpr (kKind == FieldKind::Texts) {
    if (row.lines == model::LineForm::Ends) return ends_schema(row.high);
    return {{"type", "array"}, {"maxItems", row.high}, {"items", {{"type", text_types()}}}};
  } else if constexpr (kKind == FieldKind::CountMap) {
    return {{"type", "object"},
            {"maxProperties", model::kMaxUses},
            {"propertyNames", {{"pattern", "^[A-Za-z0-9_.-]+$"}, {"maxLength", row.bytes}}},
            {"additionalProperties", whole_schema(row.low, row.high)}};
  } else if constexpr (kKind == FieldKind::AmountMap) {
    return {{"type", "object"},
            {"maxProperties", model::kMaxAmounts},
            {"propertyNames", {{"pattern", "^[A-Za-z0-9_.-]+$"}, {"maxLength", row.bytes}}},
            {"additionalProperties",
             {{"anyOf", {{{"type", "string"}, {"pattern", kSize}}, whole_schema(row.low, row.high)}}}}};
  } else {
    static_assert(kKind == FieldKind::TextMap);
    Json value = {{"type", Json::array({"string", "number", "boolean", "null"})}, {"maxLength", row.bytes}};
    if (row.is_of_words) value = words_schema();
    return {{"type", "object"}, {"additionalProperties", value}};
  }
}

/// `command:` is a list of words, or one text for the interpreter.
Json command_schema(Json list) {
  list["minItems"] = 1;
  return {{"anyOf", {std::move(list), {{"type", "string"}, {"minLength", 1}}}}};
}

template <typename Row>
Json property_of(const Row& row) {
  Json out = {{"description", sentence_of(row)}};
  Json kind = kind_schema(row);
  if (row.key == "command") kind = command_schema(std::move(kind));
  out.update(kind);
  return out;
}

Json moment_of_once() {
  return {{"description", "once, at that moment; one that is past does not fire"},
          {"type", "string"}, {"pattern", kMoment}};
}

Json one_of_keys(std::initializer_list<const char*> keys) {
  Json out = Json::array();
  for (const char* key : keys) out.push_back({{"required", {key}}});
  return out;
}

Json described(const char* what, Json kind) {
  Json out = {{"description", what}};
  out.update(kind);
  return out;
}

Json calendar_schema() {
  const Json name = {{"type", "string"}, {"maxLength", 64}, {"pattern", "^[A-Za-z0-9_.-]+$"}};
  const Json list = {{"type", "array"}, {"minItems", 1}, {"maxItems", 8}, {"items", name}};
  const Json names = {{"anyOf", {name, list}}};
  const char* what = "a tick on a closed day: skipped, or moved to the next or previous open day";
  const Json otherwise = {{"description", what}, {"enum", {"skip", "next", "previous"}}};
  const Json map = {{"type", "object"},
                    {"additionalProperties", false},
                    {"required", {"use"}},
                    {"properties", {{"use", names}, {"otherwise", otherwise}, {"day", whole_schema(-1, 1)}}}};
  Json out = {{"description", "fires only on days that are open in all of these calendars"}};
  out["anyOf"] = names["anyOf"];
  out["anyOf"].push_back(map);
  return out;
}

/// What the map of an entry takes besides the rows of the table.
void add_entry_keys(Json& properties) {
  const Json text = {{"type", "string"}, {"minLength", 1}};
  const Json moment = {{"type", "string"}, {"pattern", kMoment}};
  properties["at"] = moment_of_once();
  properties["working_day"] = described(
      "the n-th working day (Monday to Friday) of the month; -1 is the last one", whole_schema(-31, 31));
  properties["after_end"] = properties["every"];
  properties["after_end"]["description"] = "so long after the end of the last run";
  properties["calendar"] = calendar_schema();
  properties["jitter"] = properties["every"];
  properties["jitter"]["description"] = "the start comes up to this much later, always the same for one job";
  properties["time"] = described("of the working day", {{"type", "string"}, {"pattern", kClock}});
  properties["between"] = described("fires only between these local times, both included",
                                    {{"type", "string"}, {"pattern", kClocks}});
  properties["time_zone"] = described("of this entry, by its IANA name", text);
  properties["start"] = described("first valid moment of this entry", moment);
  properties["end"] = described("last valid moment of this entry", moment);
  properties["name"] = described("told to the run as ROTA_SCHEDULE",
                                 {{"type", "string"}, {"maxLength", 64}, {"pattern", "^[A-Za-z0-9_.-]+$"}});
  properties["skipped_time"]["enum"].push_back("quartz");
}

/// A line, a map, or a list of both.
Json schedule_schema(const model::KeyGroup& group, const Json& map, const Json& line) {
  const Json item = {{"anyOf", {line, map}}};
  const Json list = {{"type", "array"}, {"minItems", 1}, {"maxItems", 16}, {"items", item}};
  return {{"description", group.help}, {"anyOf", {line, list, map}}};
}

/// The map of a group, or the one value that may stand for it.
Json group_schema(const model::KeyGroup& group, Json properties, Json short_form) {
  Json map = {{"type", "object"}, {"additionalProperties", false}};
  if (group.key == "schedule") {
    add_entry_keys(properties);
    map["oneOf"] = one_of_keys({"cron", "every", "at", "after_end", "working_day"});
    short_form = {{"type", "string"}, {"minLength", 1}};
  }
  map["properties"] = std::move(properties);
  if (group.key == "schedule") return schedule_schema(group, map, short_form);
  Json out = {{"description", group.help}};
  if (!group.has_short_form) {
    out.update(map);
  } else {
    out["anyOf"] = {std::move(short_form), std::move(map)};
  }
  return out;
}

Json job_properties() {
  Json out = Json::object(), groups = Json::object(), short_forms = Json::object();
  model::for_each_row(FieldsOf<model::JobDefinition>{}, [&](const auto& row) {
    if (row.help.empty()) return;  // no key of its own
    const std::string group(row.group());
    Json property = property_of(row);
    if (row.is_short_form) short_forms[group] = property;
    (group.empty() ? out : groups[group])[std::string(row.leaf())] = std::move(property);
  });
  for (const model::KeyGroup& group : model::kKeyGroups) {
    const std::string key(group.key);
    out[key] = group_schema(group, groups[key], short_forms[key]);
  }
  return out;
}

Json job_schema() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"name"}},
          {"anyOf", one_of_keys({"command", "script", "handler"})},
          {"not", {{"required", {"command", "script"}}}},
          {"if", {{"required", {"route"}}, {"properties", {{"route", {{"const", "named"}}}}}}},
          {"then", {{"required", {"worker"}}}},
          {"properties", job_properties()}};
}

Json text_schema(const char* description, const char* pattern = ".*") {
  return {{"description", description}, {"type", "string"}, {"pattern", pattern}};
}

constexpr const char* kDays = "^\\d{4}-\\d{2}-\\d{2}(\\s*\\.\\.\\s*\\d{4}-\\d{2}-\\d{2})?$";
constexpr const char* kHours = "^\\d{2}:\\d{2}(:\\d{2})?\\s*-\\s*\\d{2}:\\d{2}(:\\d{2})?$";

Json days_schema(const char* description) {
  const Json day = {{"type", "string"}, {"pattern", kDays}};
  return {{"description", description}, {"type", "array"}, {"items", day}};
}

/// Read by calendar_file.cpp.
Json saved_calendar_schema() {
  const Json hours = {{"description", "open days that are shorter: \"2026-11-27\": \"09:30-13:00\""},
                      {"type", "object"},
                      {"additionalProperties", {{"type", "string"}, {"pattern", kHours}}}};
  const Json properties = {
      {"name", text_schema("unique in its namespace", "^[A-Za-z0-9_.-]{1,64}$")},
      {"namespace", text_schema("whose calendar it is", "^[A-Za-z0-9_.-]{1,64}$")},
      {"description", text_schema("for people")},
      {"time_zone", text_schema("of `hours`")},
      {"days", text_schema("its open weekdays: mon-fri")},
      {"exclude", days_schema("closed days, or ranges of them")},
      {"include", days_schema("open days, also where `exclude` or `days` close them")},
      {"hours", hours},
      {"covers", text_schema("the days of which it knows", kDays)},
      {"beyond", {{"description", "what counts outside of `covers`"}, {"enum", {"days", "hold"}}}}};
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"name"}},
          {"if", {{"required", {"beyond"}}, {"properties", {{"beyond", {{"const", "hold"}}}}}}},
          {"then", {{"required", {"covers"}}}},
          {"properties", properties}};
}

Json list_of(const char* what) {
  return {{"type", "array"}, {"minItems", 1}, {"items", {{"$ref", std::string("#/definitions/") + what}}}};
}

}  // namespace

std::string job_schema_text() {
  const Json file = {{"additionalProperties", false},
                     {"properties", {{"calendars", list_of("calendar")}, {"jobs", list_of("job")}}}};
  const Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                       {"title", "Rota job file"},
                       {"type", "object"},
                       {"if", {{"anyOf", one_of_keys({"jobs", "calendars"})}}},
                       {"then", file},
                       {"else", {{"$ref", "#/definitions/job"}}},
                       {"definitions", {{"calendar", saved_calendar_schema()}, {"job", job_schema()}}}};
  return schema.dump(2) + "\n";
}

}  // namespace rota::client
