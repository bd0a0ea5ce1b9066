// Text for people (messages, reasons given by users) made fit for a column: valid UTF-8, no longer than
// the column. Names and keys are never changed like this: they fit, or are refused. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rota::master::store {

/// Whether it can be stored as it is.
bool is_clean_prose(std::string_view text, std::size_t most_bytes);

/// Each byte that is not part of a valid UTF-8 sequence becomes U+FFFD. Longer text is cut between
/// characters.
std::string clean_prose(std::string_view text, std::size_t most_bytes);

}  // namespace rota::master::store
