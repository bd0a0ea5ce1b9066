// The answers to requests that still wait when a Term ends (protocol.md, "A Term ends").
#pragma once

#include <vector>

#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/loop/loop.h"

namespace rota::master::loop {

/// Requests that were never handled: surely not done.
void refuse_unhandled(const std::vector<core::Event>& events, const ReplyTo& reply);

/// Requests that were handled and may not be stored. `maybe_stored`: the outcome of a try was unknown.
void refuse_unstored(const std::vector<core::Reply>& replies, bool maybe_stored,
                     const ReplyTo& reply);

}  // namespace rota::master::loop
