// Turns what was touched by one event into rows of the batch, each run at most once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "master/core/state.h"

namespace rota::master::core {

/// Writes the rows of all touched runs, forgets those that are final, and adds the watermark when the
/// batch is written anyway.
void write_touched(Context& ctx);

/// Puts the row of a new run into the batch and gives its place; write_touched says there what became of it.
std::uint32_t add_row(Context& ctx, model::Run row);

/// The job's row as it is now.
void write_job(Context& ctx, const JobEntry& job);

/// So many more rows follow: they are not moved again and again as they come.
template <typename Row>
void make_room(std::vector<Row>& rows, std::size_t more) {
  if (rows.capacity() - rows.size() < more) rows.reserve(std::max(rows.size() + more, 2 * rows.capacity()));
}

/// Answers a token once the batch is stored; nothing for token 0.
void reply(Context& ctx, Token token, ReplyBody body);

}  // namespace rota::master::core
