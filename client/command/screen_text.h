// Output of jobs on a terminal, as it comes in pieces: no byte of it may drive the terminal. Line breaks
// and tabs stay, other control and broken bytes are written as \xNN.
#pragma once

#include <string>
#include <string_view>

namespace rota::client {

/// One stream. A character that a piece's end cuts in two waits for the next piece.
class ScreenText {
 public:
  std::string show(std::string_view bytes);
  /// What still waits, when nothing more comes.
  std::string rest();

 private:
  std::string held_;
};

}  // namespace rota::client
