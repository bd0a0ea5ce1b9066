// Whether a slice of ticks (core/time/watermark.h) may begin: only while every registered master could
// go on with it. Read from the masters' nodes now and then.
#pragma once

#include <mutex>
#include <optional>

#include "common/base/time.h"
#include "common/zk/client.h"
#include "common/zk/paths.h"
#include "master/api/leader_port.h"

namespace rota::master {

/// Whether each registered master says this of itself. Empty: unknown now. The schema turns away a master
/// that is too old and starts now, so what was seen last stays true.
std::optional<bool> all_masters(zk::Client& client, const zk::Paths& paths, bool api::MasterView::*knows);
std::optional<bool> all_know_slices(zk::Client& client, const zk::Paths& paths);

/// What the present Term was told of that. Thread: any.
class SlicesKnown {
 public:
  /// What a new Term starts with; what is unknown counts as no.
  bool begin_term(zk::Client* client, const zk::Paths& paths);
  /// Looked at every two seconds at most; empty: what was told still holds, or nothing is known now.
  std::optional<bool> changed(zk::Client& client, const zk::Paths& paths, MonoTime now);

 private:
  std::mutex mutex_;
  bool told_ = false;
  MonoTime looked_{};
};

}  // namespace rota::master
