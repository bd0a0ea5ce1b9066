// Values of job files by their rows, as people read and write them: one spelling for what `rota job show`
// prints and for the limits and defaults that documents and editors name.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "common/base/duration_text.h"
#include "common/base/size_text.h"
#include "common/model/job_fields.h"
#include "common/wire/job_names.h"

namespace rota::client {

/// A number of the row's kind, in the wire's unit, as it is written in a job file: "1h30m", "512MiB", "0.25".
template <typename Row>
std::string number_in_file(const Row&, std::int64_t value) {
  if constexpr (Row::kind == model::FieldKind::Duration) {
    return format_duration(Millis{value});
  } else if constexpr (Row::kind == model::FieldKind::Size) {
    return format_size(value);
  } else if constexpr (Row::kind == model::FieldKind::Cores) {
    return fmt::format("{}", static_cast<double>(value) / 1000);
  } else if constexpr (Row::kind == model::FieldKind::Octal) {
    return fmt::format("{:03o}", value);
  } else {
    return std::to_string(value);
  }
}

/// What may stand there: "`1m` to `3660d`, or `forever`"; Markdown.
template <typename Row>
std::string values_of(const Row& row) {
  using model::FieldKind;
  if constexpr (Row::kind == FieldKind::Choice) {
    return fmt::format("`{}`", fmt::join(wire::words_in_file(row), "`, `"));
  } else if constexpr (Row::kind == FieldKind::Moment) {
    return "a moment, `2026-03-29T02:30:00Z`";
  } else if constexpr (Row::kind == FieldKind::Text) {
    if (row.lines == model::LineForm::Again) return "a map, `{exit: [75], every: 5m, at_most: 6h}`";
    switch (row.form) {
      case model::TextForm::Word: return fmt::format("1 to {} of letters, digits, `_`, `-`, `.`", row.bytes);
      case model::TextForm::Path: return "a path";
      default: return fmt::format("a text, up to {} bytes", row.bytes);
    }
  } else if constexpr (Row::kind == FieldKind::Texts) {
    const bool has_ends = row.lines == model::LineForm::Ends;
    return has_ends ? "a list of ends, `[{exit: [75, \"100-110\"]}, timed_out]`" : "a list of texts";
  } else if constexpr (Row::kind == FieldKind::TextMap) {
    return row.is_of_words ? "a map of words, or of lists of them" : "a map of texts";
  } else if constexpr (Row::kind == FieldKind::CountMap) {
    return "a map of whole numbers";
  } else if constexpr (Row::kind == FieldKind::AmountMap) {
    return "a map of whole numbers, or of sizes like `8GiB`";
  } else {
    return fmt::format("`{}` to `{}`{}", number_in_file(row, row.low), number_in_file(row, row.high),
                       row.or_forever ? ", or `forever`" : "");
  }
}

/// What it is for, and since when where that is not the first release.
inline std::string help_of(const model::FieldFacts& row) {
  const bool is_later = row.since != model::FieldFacts().since;
  return is_later ? fmt::format("{} (since {})", row.help, row.since) : std::string(row.help);
}

/// The same for editors, with the range where no JSON Schema tells it.
template <typename Row>
std::string sentence_of(const Row& row) {
  using model::FieldKind;
  constexpr bool kHasUnit = Row::kind == FieldKind::Duration || Row::kind == FieldKind::Size;
  return kHasUnit ? fmt::format("{}; {}", help_of(row), values_of(row)) : help_of(row);
}

}  // namespace rota::client
