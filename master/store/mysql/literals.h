// Values as SQL literals, for statements that travel as text. Nothing can break out of one: quotes stand only
// around printable ASCII without quote and backslash, all else is written in hexadecimal. So no literal
// depends on the session's SQL mode. Pure.
//
// x'…' has no character set. A text column takes its bytes as they are and refuses what is no UTF-8, as it
// does with a prepared statement's values.
#pragma once

#include <string>

#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Writes its values one behind the other, with commas between them.
class LiteralBinder final : public Binder {
 public:
  explicit LiteralBinder(std::string& sql) : sql_(sql) {}
  LiteralBinder& integer(std::int64_t value) override;
  LiteralBinder& text(std::string_view value) override;
  LiteralBinder& null() override;

 private:
  void separate();

  std::string& sql_;
  bool is_first_ = true;
};

/// The statement with a literal in place of each "?", in order. No "?" may stand in it for anything else.
std::string with_literals(std::string_view statement, const Bind& bind);

}  // namespace rota::master::store
