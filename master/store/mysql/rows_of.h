// A question to the database as a list of what its rows say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "master/store/mysql/connection.h"
#include "master/store/mysql/connection_pool.h"

namespace rota::master::store {

inline constexpr std::int32_t kMostRowsAsked = 10'000;

inline std::int32_t rows_asked(std::int32_t limit) { return std::clamp(limit, 1, kMostRowsAsked); }

/// "?,?,…"
inline std::string marks(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += i == 0 ? "?" : ",?";
  return text;
}

/// All rows of a query, each made by `read`.
template <typename Item, typename Read>
Result<std::vector<Item>> rows_of(ConnectionPool& pool, const std::string& sql, const Bind& bind,
                                  const Read& read) {
  std::vector<Item> items;
  auto done = pool.with([&](Connection& connection) -> Result<void> {
    items.clear();
    return connection.query(sql, bind, [&](Row& row) -> Result<void> {
      Result<Item> item = read(row);
      if (!item) return fail(item.error());
      items.push_back(std::move(*item));
      return {};
    });
  });
  if (!done) return fail(done.error());
  return items;
}

}  // namespace rota::master::store
