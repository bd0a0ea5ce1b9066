// The place of a text in a message, as people read it ("item.definition.parameters.url"), and what happens
// to a text that is not UTF-8. The names come from the IDL; the wire itself has numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rota::rpc {

/// What happens to a text that is not UTF-8. Requests of people (JobService) are refused, with the place.
/// Messages between Rota's programs are repaired instead: a refused result would be sent forever.
enum class BrokenText { Refused, Repaired };
BrokenText broken_text_of(std::string_view method);

/// One step into a message: the number of a field, or what follows it (a list's index, a map's key).
struct FieldNumber {
  std::int16_t value = 0;
};
struct ListIndex {
  std::size_t value = 0;
};
using PlaceStep = std::variant<FieldNumber, ListIndex, std::string>;

/// A place in a request's arguments: "edits[2].definition.labels.team". Unknown fields are shown as numbers.
/// Parts that came from outside are escaped and shortened.
std::string place_text(std::string_view method, const std::vector<PlaceStep>& steps);

/// "PLACE: byte 0xff at offset 3 is part of no character; texts are UTF-8"
std::string broken_text_message(std::string_view place, std::string_view text);

/// The number of texts that this process has repaired so far, in both directions.
std::int64_t repaired_texts();
/// Counts one repair. Logs the first, then at most one a minute.
void note_repaired(std::string_view method, std::string_view place, bool is_outgoing);

}  // namespace rota::rpc
