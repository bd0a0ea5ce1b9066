// What `--watch` draws: one look at a command's output, fitted to a terminal's size and drawn over the one
// before. Pure.
#pragma once

#include <string>
#include <string_view>

namespace rota::client {

struct ScreenSize {
  int rows = 24;
  int columns = 80;
};

/// The front of a line that takes at most so many places on a screen.
std::string_view cut_line(std::string_view line, int columns);

/// The sequence that draws the text from the top left corner, over what was there: no line is longer than the
/// screen is wide, and the last line says how many more there are when not all fit. `is_first`: the screen is
/// cleared before.
std::string drawn_look(std::string_view text, ScreenSize size, bool is_first);

/// The text without what changes by itself, for the question whether anything has changed: the values of
/// "age_ms" in JSON or YAML.
std::string without_ages(std::string_view text);

}  // namespace rota::client
