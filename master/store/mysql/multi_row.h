// One statement for many rows. Statements are prepared per size class (powers of two up to 512 rows, and
// one and a half of each), so that any number of rows takes a few round trips and no statement is prepared
// twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "common/base/result.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// "head (?, … , ?), (…) tail": head ends in VALUES, tail says what a repeat does.
struct MultiRow {
  std::string_view head;
  int columns = 0;
  std::string_view tail;
  std::string_view fixed = {};  ///< what ends each tuple, alike in all rows: ", 'a', 1"
};

/// Where rows are and how one is written.
struct RowSource {
  std::size_t count = 0;
  std::function<void(Binder&, std::size_t row)> bind;
  std::function<std::size_t(std::size_t row)> bytes = {};  ///< about; for rows that may be long
};

/// Writes all rows; gives the sum of what the server counted (see Connection::change).
Result<std::int64_t> write_rows(Connection& connection, const MultiRow& statement,
                                const RowSource& rows);

/// The largest size class that fits: at most `left` rows, and about 4 MiB. Pure.
std::size_t next_chunk(std::size_t first, std::size_t left,
                       const std::function<std::size_t(std::size_t)>& bytes);

}  // namespace rota::master::store
