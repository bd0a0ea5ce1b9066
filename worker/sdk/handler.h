// The interface of a handler: user code that a worker runs by name.
#pragma once

#include "common/base/result.h"
#include "worker/sdk/context.h"

namespace rota::sdk {

/// One object serves all runs of its name. Owner: the Registry. Thread: run is called from several
/// slots at once.
class Handler {
 public:
  virtual ~Handler() = default;
  /// Success, or an Error whose message is shown to people and makes the attempt a failure. What it
  /// throws counts as a failure with the exception's message.
  virtual Result<void> run(Context& context) = 0;
};

}  // namespace rota::sdk
