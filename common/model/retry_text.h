// The lines of a retry rule: which ends of attempts are meant (`only`, `never`), and which say "not ready
// yet" (`again`). Pure.
//
//   only, never   one of: "failed", "timed_out", the reason of an end ("start_failed"), "exit 75,100-110",
//                 "signal 9"
//   again         "exit 75; every 5m; at_most 6h"; without at_most for as long as it takes
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/run.h"

namespace rota::model {

/// Both ends included.
struct NumberRange {
  std::int32_t low = 0, high = 0;
  bool operator==(const NumberRange&) const = default;
};

/// One kind of end.
struct EndFilter {
  enum class Kind { Word, Exit, Signal };
  Kind kind = Kind::Word;
  std::string word;                    ///< of a state or a reason
  std::vector<NumberRange> numbers;    ///< Exit, Signal
  bool operator==(const EndFilter&) const = default;
};

/// An end that is no failure: the attempt could not begin its work yet.
struct AgainRule {
  std::vector<NumberRange> exit;       ///< at least one
  Millis every{300'000};               ///< 1 s at least
  Millis at_most{0};                   ///< from the start of the first attempt; 0: no limit
};

inline constexpr Millis kAgainLeast{1000};
inline constexpr Millis kAgainMost{365ll * 24 * 3600 * 1000};
inline constexpr std::size_t kMostRanges = 32;

/// "75,100-110"; `most`: 255 for exit statuses, 64 for signals; 1 is the least. An error says what is wrong.
Result<std::vector<NumberRange>> ranges_from_text(std::string_view text, std::int32_t most);
std::string text_of(const std::vector<NumberRange>& ranges);

/// An error says what is wrong, and what is allowed.
Result<EndFilter> end_filter_from_text(std::string_view line);
std::string text_of(const EndFilter& filter);
/// The words that an EndFilter may have.
const std::vector<std::string_view>& end_words();

Result<AgainRule> again_from_text(std::string_view line);
std::string text_of(const AgainRule& again);

/// Whether one of the lines means this end. A line that cannot be read means none.
bool is_meant(const std::vector<std::string>& lines, const Outcome& outcome);

/// It ended by itself, with one of these statuses.
bool is_not_ready(const AgainRule& again, RunState state, std::int32_t exit_status);

}  // namespace rota::model
