#include "common/wire/definition_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/model/job_fields.h"
#include "common/wire/job_names.h"

namespace rota::wire {
namespace {

using model::FieldKind;
using model::FieldsOf;
using nlohmann::json;

/// What a reader of this file throws for a value that it cannot read; caught in `parsed` below.
struct UnreadableValue {
  std::string message;
};

[[noreturn]] void complain_of_word(std::string_view field, const std::string& word) {
  throw UnreadableValue{std::string(field) + " '" + word + "' is not known to this program"};
}

template <typename Enum>
  requires std::is_enum_v<Enum>
void read_value(const json& from, std::string_view field, Enum& into) {
  const auto& word = from.get_ref<const std::string&>();
  const auto value = named<Enum>(word);
  if (!value) complain_of_word(field, word);
  into = *value;
}

template <typename Value>
  requires(!std::is_enum_v<Value>)
void read_value(const json& from, std::string_view, Value& into) {
  from.get_to(into);
}

void read_value(const json& from, std::string_view, Millis& into) { into = Millis{from.get<std::int64_t>()}; }

void read_value(const json& from, std::string_view, std::optional<WallTime>& into) {
  if (!from.is_null()) into = wall_from_ms(from.get<std::int64_t>());
}

template <typename Value>
void read_member(const json& object, std::string_view field, Value& into) {
  if (const auto found = object.find(field); found != object.end()) read_value(*found, field, into);
}

/// The pool of a job that masters of before must not send.
void read_hidden(const json& from, model::JobRules& into) {
  read_member(from, model::kPoolOfNeeds, into.pool);
}
template <typename Struct>
void read_hidden(const json&, Struct&) {}

/// A missing key keeps its default; an unknown key is ignored.
template <typename Struct>
void read(const json& from, Struct& into) {
  model::for_each_field(FieldsOf<Struct>{}, [&](const auto& row) {
    if constexpr (std::decay_t<decltype(row)>::kind == FieldKind::Group) {
      const auto found = from.find(row.json_name());
      if (found == from.end()) return;
      if (!found->is_object()) throw UnreadableValue{std::string(row.json_name()) + " is no object"};
      read(*found, row.in(into));
    } else {
      read_member(from, row.json_name(), row.in(into));
      if (!row.newer.json.empty()) read_member(from, row.newer.json, row.in(into));
    }
  });
  read_hidden(from, into);
}

void read(const json& from, std::map<std::string, std::string>& texts) { from.get_to(texts); }

template <typename Value>
json value_json(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return name_of(value);
  } else {
    return value;
  }
}
json value_json(const Millis& value) { return value.count(); }
json value_json(const std::optional<WallTime>& at) { return at ? json(to_ms(*at)) : json(nullptr); }

bool is_newer_word(const model::FieldFacts& row, const json& written) {
  return written.is_string() && row.newer.is_one(written.get_ref<const std::string&>());
}

bool is_newer(const model::RetryRule& rule) {
  const bool is_required = rule.another_worker == model::AnotherWorker::Require;
  return !rule.only.empty() || !rule.never.empty() || !rule.again.empty() || is_required;
}

void hide_from_older_masters(const model::JobRules& rules, json& out) {
  const bool has_needs = rules.slots != 1 || !rules.needs.empty();
  if (has_needs) {
    out[std::string(model::kPoolOfNeeds)] = std::exchange(out["pool"], model::kPoolOfSelect);
    return;
  }
  const bool is_hidden = !rules.select.empty() || !rules.uses.empty() || is_newer(rules.retry);
  if (is_hidden) out["newer_pool"] = std::exchange(out["pool"], model::kPoolOfSelect);
}
template <typename Struct>
void hide_from_older_masters(const Struct&, json&) {}

template <typename Struct>
json json_of(const Struct& from) {
  const Struct plain;
  json out = json::object();
  model::for_each_field(FieldsOf<Struct>{}, [&](const auto& row) {
    const auto& value = row.in(from);
    if constexpr (std::decay_t<decltype(row)>::kind == FieldKind::Group) {
      out[std::string(row.json_name())] = json_of(value);
    } else {
      if (row.is_stored_when_changed && value == row.in(plain)) return;
      json written = value_json(value);
      if (is_newer_word(row, written)) {
        out[std::string(row.newer.json)] = std::exchange(written, row.newer.stand_in);
      }
      out[std::string(row.json_name())] = std::move(written);
    }
  });
  hide_from_older_masters(from, out);
  return out;
}

/// The one place where the writer's exceptions end: broken UTF-8 is all that it can complain of.
Result<std::string> dumped(const json& value, const char* what) {
  try {
    return value.dump();
  } catch (const json::exception& error) {
    return fail(ErrorCode::InvalidArgument, std::string(what) + ": " + error.what());
  }
}

/// The one place where the reader's exceptions end.
template <typename Value>
Result<Value> parsed(std::string_view text, const char* what) {
  try {
    const json from = json::parse(text);
    if (!from.is_object()) return fail(ErrorCode::Corrupt, std::string(what) + ": no JSON object");
    Value value;
    read(from, value);
    return value;
  } catch (const UnreadableValue& value) {
    return fail(ErrorCode::Corrupt, std::string(what) + ": " + value.message);
  } catch (const json::exception& error) {
    return fail(ErrorCode::Corrupt, std::string(what) + ": " + error.what());
  }
}

}  // namespace

Result<std::string> definition_to_json(const model::JobDefinition& definition) {
  return dumped(json_of(definition), "job definition");
}
Result<model::JobDefinition> definition_from_json(std::string_view text) {
  return parsed<model::JobDefinition>(text, "stored job definition");
}
Result<std::string> rules_to_json(const model::JobRules& rules) {
  return dumped(json_of(rules), "job rules");
}
Result<model::JobRules> rules_from_json(std::string_view text) {
  return parsed<model::JobRules>(text, "stored job rules");
}
Result<std::string> texts_to_json(const std::map<std::string, std::string>& texts) {
  return dumped(json(texts), "parameters");
}
Result<std::map<std::string, std::string>> texts_from_json(std::string_view text) {
  return parsed<std::map<std::string, std::string>>(text, "stored parameters");
}

std::string amounts_to_json(const model::Amounts& amounts) { return json(amounts).dump(); }

std::optional<model::Amounts> amounts_from_json(const std::string& text) {
  const json data = json::parse(text, nullptr, false);
  if (!data.is_object()) return std::nullopt;
  model::Amounts amounts;
  for (const auto& [name, amount] : data.items()) {
    if (!amount.is_number_integer()) return std::nullopt;
    amounts[name] = amount.get<std::int64_t>();
  }
  return amounts;
}

}  // namespace rota::wire
