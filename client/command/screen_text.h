// Output of jobs on a terminal, as it comes in pieces: none of its bytes may control the terminal. Line
// breaks and tabs stay; other control bytes and broken bytes are written as \xNN.
#pragma once

#include <string>
#include <string_view>

namespace rota::client {

/// One stream. When a piece ends inside a character, the rest waits for the next piece.
class ScreenText {
 public:
  std::string show(std::string_view bytes);
  /// The waiting bytes, when no more pieces come.
  std::string rest();

 private:
  std::string held_;
};

}  // namespace rota::client
