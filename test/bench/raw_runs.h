// The limits beside which run rates are printed: the store alone, and processes alone.
#pragma once

#include "test/bench/figures.h"
#include "test/bench/surroundings.h"

namespace rota::bench {

/// The same MariaDB, in a database of its own with a copy of the table `run`: rows inserted, then
/// brought to their end, in batches of 500, a transaction each, on one connection.
Result<Rate> raw_lives(const Surroundings& where, double seconds);

/// The same MariaDB: rows of one number, a transaction each, on so many connections at once.
Result<Rate> raw_commits(const Surroundings& where, int connections, double seconds);

/// `xargs -P2 -n1 /bin/true` with so many lines; it records nothing.
Result<Rate> plain_processes(std::int64_t count);

}  // namespace rota::bench
