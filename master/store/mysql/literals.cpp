#include "master/store/mysql/literals.h"

#include <algorithm>
#include <charconv>

namespace rota::master::store {
namespace {

bool may_stand_in_quotes(char c) { return c >= ' ' && c <= '~' && c != '\'' && c != '\\'; }

void append_hex(std::string& sql, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    sql += kDigits[byte >> 4];
    sql += kDigits[byte & 15];
  }
}

/// Puts each value in the place of the next "?".
class PlaceBinder final : public Binder {
 public:
  PlaceBinder(std::string& sql, std::string_view statement) : sql_(sql), left_(statement) {}
  void finish() { sql_ += left_; }

  PlaceBinder& integer(std::int64_t value) override {
    LiteralBinder(to_place()).integer(value);
    return *this;
  }
  PlaceBinder& text(std::string_view value) override {
    LiteralBinder(to_place()).text(value);
    return *this;
  }
  PlaceBinder& null() override {
    LiteralBinder(to_place()).null();
    return *this;
  }

 private:
  std::string& to_place() {
    const std::size_t at = std::min(left_.find('?'), left_.size());
    sql_ += left_.substr(0, at);
    left_.remove_prefix(std::min(at + 1, left_.size()));
    return sql_;
  }

  std::string& sql_;
  std::string_view left_;
};

}  // namespace

void LiteralBinder::separate() {
  if (!is_first_) sql_ += ',';
  is_first_ = false;
}

LiteralBinder& LiteralBinder::integer(std::int64_t value) {
  separate();
  char digits[24];
  sql_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  return *this;
}

LiteralBinder& LiteralBinder::text(std::string_view value) {
  separate();
  if (std::all_of(value.begin(), value.end(), may_stand_in_quotes)) {
    (sql_ += '\'').append(value) += '\'';
  } else {
    append_hex(sql_ += "x'", value);
    sql_ += '\'';
  }
  return *this;
}

LiteralBinder& LiteralBinder::null() {
  separate();
  sql_ += "NULL";
  return *this;
}

std::string with_literals(std::string_view statement, const Bind& bind) {
  std::string sql;
  PlaceBinder places(sql, statement);
  bind(places);
  places.finish();
  return sql;
}

}  // namespace rota::master::store
