#include "common/wire/calendar_json.h"

#include <nlohmann/json.hpp>

namespace rota::wire {
namespace {

using nlohmann::json;

constexpr std::string_view kHold = "hold";

template <typename Value>
void read(const json& from, const char* key, Value& into) {
  if (const auto found = from.find(key); found != from.end()) found->get_to(into);
}

model::Calendar read_calendar(const json& from) {
  model::Calendar out;
  std::string beyond;
  read(from, "name", out.name);
  read(from, "description", out.description);
  read(from, "time_zone", out.time_zone);
  read(from, "days", out.days);
  read(from, "exclude", out.exclude);
  read(from, "include", out.include);
  read(from, "hours", out.hours);
  read(from, "covers", out.covers);
  read(from, "beyond", beyond);
  if (beyond == kHold) out.beyond = model::BeyondCover::Hold;
  return out;
}

}  // namespace

std::string_view name_of(model::BeyondCover beyond) {
  return beyond == model::BeyondCover::Hold ? kHold : "days";
}

Result<std::string> calendar_to_json(const model::Calendar& calendar) {
  const json out = {{"name", calendar.name},           {"description", calendar.description},
                    {"time_zone", calendar.time_zone}, {"days", calendar.days},
                    {"exclude", calendar.exclude},     {"include", calendar.include},
                    {"hours", calendar.hours},         {"covers", calendar.covers},
                    {"beyond", name_of(calendar.beyond)}};
  try {
    return out.dump();
  } catch (const json::exception& error) {
    return fail(ErrorCode::InvalidArgument, std::string("calendar: ") + error.what());
  }
}

Result<model::Calendar> calendar_from_json(std::string_view text) {
  try {
    const json from = json::parse(text);
    if (!from.is_object()) return fail(ErrorCode::Corrupt, "stored calendar: no JSON object");
    return read_calendar(from);
  } catch (const json::exception& error) {
    return fail(ErrorCode::Corrupt, std::string("stored calendar: ") + error.what());
  }
}

}  // namespace rota::wire
