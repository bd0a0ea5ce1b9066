// What a job says of itself on the descriptor that ROTA_FD names: one line each. Pure.
//
//   progress 40 half of the files     a percentage (0 to 100) and, if you like, a few words
//   checkpoint TEXT                   what the run's next attempt is to get
//   result TEXT                       the run's result value
//   failure TEXT                      the message, should the attempt fail
//   checkpoint64 BASE64, result64 BASE64, failure64 BASE64   the same for any bytes
//
// The last of each kind counts. Nothing here can harm: what is not understood is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rota::worker::run {

inline constexpr std::size_t kMaxValueBytes = 64u << 10;
inline constexpr std::size_t kMaxProgressText = 200;
inline constexpr std::size_t kMaxFailureText = 4096;

/// What was said; unset: nothing of that kind.
struct Said {
  std::optional<std::int32_t> percent;
  std::string text;                    ///< beside percent
  std::optional<std::string> checkpoint;
  std::optional<std::string> result;
  std::optional<std::string> failure;

  bool empty() const { return !percent && !checkpoint && !result && !failure; }
  /// Worth keeping through a crash of the worker proper.
  bool is_lasting() const { return checkpoint || result || failure; }
  /// Lays what came later over this.
  void merge(Said later);
  bool operator==(const Said&) const = default;
};

/// The lines that give this Said when they are read.
std::string lines_of(const Said& said);

/// Cuts bytes into lines. Owner and thread: one.
class ProgressLines {
 public:
  /// What the lines that these bytes complete say.
  Said feed(std::string_view bytes);
  /// No more bytes come: a last line without its end counts as well.
  Said finish();

  std::int64_t bad_lines() const { return bad_lines_; }
  /// The beginning of the first of them, and what is wrong with it.
  const std::string& first_bad() const { return first_bad_; }

 private:
  void apply_line(std::string_view line, Said& said);
  void refuse(std::string_view line, std::string_view why);
  void keep(std::string_view bytes);

  std::string partial_;
  bool is_too_long_ = false;           ///< the rest of this line is passed over
  std::int64_t bad_lines_ = 0;
  std::string first_bad_;
};

}  // namespace rota::worker::run
