#include "master/tick_hold.h"

#include <fmt/format.h>

namespace rota::master {

std::string reason_to_hold(bool restored, std::optional<Millis> skew) {
  std::string why;
  if (restored) {
    why = "the database is older than the cluster; look at it, then: rota-master --accept-restore "
          "--config FILE";
  }
  if (skew) {
    // Whole seconds, so that the words do not change with every look.
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::abs(*skew));
    why += fmt::format("{}the leader's clock is about {} s {} the database's; set the clocks right",
                       why.empty() ? "" : "; ", seconds.count(),
                       *skew > Millis{0} ? "ahead of" : "behind");
  }
  return why;
}

}  // namespace rota::master
