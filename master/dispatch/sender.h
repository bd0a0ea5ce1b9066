// How the loop sends messages to workers. The dispatch threads make the calls; answers come back as events
// (HelloAnswered, HelloFailed, DispatchAnswered) through the inbox.
#pragma once

#include "common/base/ids.h"
#include "master/core/effect.h"

namespace rota::master::dispatch {

/// Thread: loop only. Never blocks: what cannot be queued at once is answered as Unknown or HelloFailed.
class Sender {
 public:
  virtual ~Sender() = default;
  virtual void send(Epoch epoch, core::Send message) = 0;
};

}  // namespace rota::master::dispatch
