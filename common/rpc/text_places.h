// Where in a message a text stands, as people read it ("item.definition.parameters.url"), and what becomes
// of one that is no UTF-8. The names come from the IDL; the wire itself carries numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rota::rpc {

/// What becomes of a text that is no UTF-8. Requests of people (JobService) are refused, with the place. What
/// Rota's programs tell each other is repaired instead: a result that is refused would be told forever.
enum class BrokenText { Refused, Repaired };
BrokenText broken_text_of(std::string_view method);

/// One step into a message: the number of a field, or what follows it: a list's index, a map's key.
struct FieldNumber {
  std::int16_t value = 0;
};
struct ListIndex {
  std::size_t value = 0;
};
using PlaceStep = std::variant<FieldNumber, ListIndex, std::string>;

/// "edits[2].definition.labels.team": of a request's arguments. Fields that this program does not know stand
/// as numbers; what of it came from outside is escaped and short.
std::string place_text(std::string_view method, const std::vector<PlaceStep>& steps);

/// "PLACE: byte 0xff at offset 3 is part of no character; texts are UTF-8"
std::string broken_text_message(std::string_view place, std::string_view text);

/// Texts that this process repaired so far, whatever their direction.
std::int64_t repaired_texts();
/// Counts one, and logs the first, then at most one a minute.
void note_repaired(std::string_view method, std::string_view place, bool is_outgoing);

}  // namespace rota::rpc
