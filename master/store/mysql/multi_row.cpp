#include "master/store/mysql/multi_row.h"

#include <algorithm>
#include <bit>
#include <string>

namespace rota::master::store {
namespace {

constexpr std::size_t kMostRows = 512;             // times at most 36 columns: below 65,535 placeholders
constexpr std::size_t kMostBytes = 4u << 20;       // well below the server's default packet of 16 MiB

std::string text_of(const MultiRow& statement, std::size_t rows) {
  std::string tuple = "(";
  for (int i = 0; i < statement.columns; ++i) tuple += i == 0 ? "?" : ",?";
  tuple += statement.fixed;
  tuple += ")";
  std::string text(statement.head);
  for (std::size_t i = 0; i < rows; ++i) {
    text += i == 0 ? " " : ",";
    text += tuple;
  }
  text += ' ';
  text += statement.tail;
  return text;
}

/// The largest power of two that is not more, or one and a half of it.
std::size_t size_class(std::size_t rows) {
  const std::size_t power = std::bit_floor(rows);
  return power + (rows >= power + power / 2 ? power / 2 : 0);
}

}  // namespace

std::size_t next_chunk(std::size_t first, std::size_t left,
                       const std::function<std::size_t(std::size_t)>& bytes) {
  if (left == 0) return 0;
  const std::size_t size = size_class(std::min(left, kMostRows));
  if (!bytes) return size;
  std::size_t fitting = 0;
  for (std::size_t sum = 0; fitting < size; ++fitting) {
    sum += bytes(first + fitting);
    if (sum > kMostBytes) break;
  }
  return size_class(std::max<std::size_t>(fitting, 1));
}

Result<std::int64_t> write_rows(Connection& connection, const MultiRow& statement,
                                const RowSource& rows) {
  std::int64_t counted = 0;
  for (std::size_t first = 0; first < rows.count;) {
    const std::size_t size = next_chunk(first, rows.count - first, rows.bytes);
    auto changed = connection.change(text_of(statement, size), [&](Binder& binder) {
      for (std::size_t i = 0; i < size; ++i) rows.bind(binder, first + i);
    });
    if (!changed) return changed;
    counted += *changed;
    first += size;
  }
  return counted;
}

}  // namespace rota::master::store
