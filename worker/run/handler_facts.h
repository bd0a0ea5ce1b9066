// What a handler that runs in a process of its own is told of its run: one file, written by the worker
// proper and read by the child. Pure. A reader skips names that it does not know, so that the file
// may grow while the program is replaced under a running worker.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "worker/desk/order.h"
#include "worker/sdk/context.h"

namespace rota::worker::run {

struct HandlerBrief {
  sdk::RunFacts facts;
  sdk::LockAddress locks;
};

sdk::RunFacts facts_of(const desk::Order& order, Epoch epoch, const model::WorkerKey& life);

/// Lines of "name base64", the first of them naming the format.
std::string encode_brief(const HandlerBrief& brief);
/// Corrupt: not such a file.
Result<HandlerBrief> decode_brief(std::string_view text);

}  // namespace rota::worker::run
