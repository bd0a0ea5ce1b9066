// Questions to the store that benchmarks ask past the product.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "test/bench/surroundings.h"

namespace rota::bench {

/// The first column of the last row; nothing where it is NULL or there is no row.
Result<std::optional<std::int64_t>> ask_maybe(master::store::Connection& connection,
                                              const std::string& sql);
/// The same with 0 for nothing.
Result<std::int64_t> ask_number(master::store::Connection& connection, const std::string& sql);

/// Asks every 5 ms until there is an answer above `above`. TimedOut.
Result<std::int64_t> await_number(master::store::Connection& connection, const std::string& sql,
                                  std::int64_t above, Millis patience);

/// Copies of the run `model`, with the ids 1 to `count` (below those of all Terms), keys of their
/// own and moments a millisecond apart, the newest `age` ago; their ids must be free. With the
/// server's own bulk statements.
Result<void> add_old_runs(master::store::Connection& connection, std::int64_t model,
                          std::int64_t count, Millis age);

/// Takes those with the ids 1 to `count` away that are still there.
Result<void> erase_old_runs(master::store::Connection& connection, std::int64_t count);

}  // namespace rota::bench
