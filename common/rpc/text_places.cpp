#include "common/rpc/text_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>

#include "common/base/log.h"
#include "common/base/time.h"
#include "common/base/utf8.h"

namespace rota::rpc {
namespace {

struct FieldName {
  std::string_view owner;
  std::int16_t number;
  std::string_view name;
  std::string_view type;
};

struct MethodName {
  std::string_view method;
  std::string_view service;
};

#include "field_names.inc"

const FieldName* field_of(std::string_view owner, std::int16_t number) {
  const auto* found = std::find_if(std::begin(kFields), std::end(kFields), [&](const FieldName& field) {
    return field.owner == owner && field.number == number;
  });
  return found == std::end(kFields) ? nullptr : found;
}

constexpr std::chrono::minutes kLogEvery{1};
std::atomic<std::int64_t> repaired{0};
std::mutex log_mutex;
MonoTime last_logged{};

/// Whether a line may be written now.
bool may_log() {
  std::scoped_lock lock(log_mutex);
  const MonoTime now = BootClock::now();
  if (last_logged != MonoTime{} && now - last_logged < kLogEvery) return false;
  last_logged = now;
  return true;
}

}  // namespace

BrokenText broken_text_of(std::string_view method) {
  const auto* found = std::find_if(std::begin(kMethods), std::end(kMethods),
                                   [&](const MethodName& each) { return each.method == method; });
  const bool is_internal = found != std::end(kMethods) && found->service != "JobService";
  return is_internal ? BrokenText::Repaired : BrokenText::Refused;
}

std::string place_text(std::string_view method, const std::vector<PlaceStep>& steps) {
  std::string owner = std::string(method) + "()";
  std::string out;
  for (const PlaceStep& step : steps) {
    if (const auto* number = std::get_if<FieldNumber>(&step)) {
      const FieldName* field = field_of(owner, number->value);
      if (!out.empty()) out += '.';
      out += field == nullptr ? fmt::format("field {}", number->value) : std::string(field->name);
      owner = field == nullptr ? "" : std::string(field->type);
    } else if (const auto* index = std::get_if<ListIndex>(&step)) {
      out += fmt::format("[{}]", index->value);
    } else {
      out += '.' + shown_text(std::get<std::string>(step));
    }
  }
  return out;
}

std::string broken_text_message(std::string_view place, std::string_view text) {
  const std::size_t at = broken_utf8_at(text).value_or(0);
  const unsigned byte = text.empty() ? 0 : static_cast<unsigned char>(text[at]);
  return fmt::format("{}: byte {:#04x} at offset {} is part of no character; texts are UTF-8", place, byte,
                     at);
}

std::int64_t repaired_texts() { return repaired.load(); }

void note_repaired(std::string_view method, std::string_view place, bool is_outgoing) {
  const std::int64_t count = ++repaired;
  if (!may_log()) return;
  log_warn("rpc", "a text was not UTF-8; its broken bytes are replaced by U+FFFD",
           {{"method", method}, {"field", place}, {"way", is_outgoing ? "out" : "in"}, {"in_all", count}});
}

}  // namespace rota::rpc
