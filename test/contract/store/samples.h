// Rows for the contract suite: plain ones, and ones with every field filled with nasty values.
#pragma once

#include <string>

#include "master/core/effect.h"

namespace rota::master::store::testing {

inline constexpr std::int64_t kBase = 1'700'000'000'000;

/// Quotes, comments, a NUL, four-byte characters: must come back as it went in.
std::string nasty_text();
/// Every byte value, `size` bytes.
std::string binary_bytes(std::size_t size);

model::Job a_job(std::int64_t id, const std::string& name);
model::JobVersionRow a_version(std::int64_t job, JobVersion version, const std::string& name);
/// A tick's run, dispatched to worker w1 by epoch 1.
model::Run a_tick_run(std::int64_t id, std::int64_t job, std::int64_t tick_s);
model::Run a_manual_run(std::int64_t id, std::int64_t job);
core::RunUpdate succeeded(const model::Run& run);
model::Outcome full_outcome();
model::Gap a_gap(std::int64_t job, std::int64_t from_s, std::int64_t to_s);

/// Job `id` called `name` with its first version.
core::Changes new_job(std::int64_t id, const std::string& name);

/// All fields alike; names the first that is not, else empty.
std::string difference(const model::Run& a, const model::Run& b);
std::string difference(const model::Job& a, const model::Job& b);
std::string difference(const model::JobVersionRow& a, const model::JobVersionRow& b);
std::string difference(const model::AttemptRow& a, const model::AttemptRow& b);
std::string difference(const model::Gap& a, const model::Gap& b);

}  // namespace rota::master::store::testing
