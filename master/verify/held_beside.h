// How much of one thing (tokens of a semaphore, slots of a pool or a namespace) runs surely held at once,
// beside how much there was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "master/verify/span.h"
#include "master/verify/verify.h"

namespace rota::master::verify {

/// What rows tell of when a run's attempt was sent, in the order of decisions.
struct Sent {
  RunId run;                           ///< its id names the Term that recorded it
  Epoch last;                          ///< the Term that last wrote its row
  WallTime recorded{};
  std::optional<WallTime> dispatched;  ///< of the run's last attempt
};

Sent sent_of(const model::Run& run, const Span& span);

/// How much there is from a change on. What was before the first is not known: nothing counts as there.
struct Amount {
  std::int64_t most = 0;
  WallTime changed{};
  std::int64_t number = 0;             ///< names the Term of the change, like a run's id
};

/// The highest amount that may have been in force when that attempt was sent. Within a Term times tell what
/// was first; of two Terms, which may have had different clocks, only that one followed the other. Pure.
std::int64_t most_in_force(const std::vector<Amount>& amounts, const Sent& sent);

struct HeldSpan {
  Span span;
  std::int64_t amount = 0;
  Sent sent;
};

struct Excess {
  RunId began;                         ///< when this one began
  std::int64_t by = 0;
};

/// Thread: one.
class HeldBeside {
 public:
  /// Each is compared with so many others at most.
  static constexpr std::size_t kMostRecent = 4000;
  explicit HeldBeside(std::vector<Amount> amounts, std::size_t most_recent = kMostRecent)
      : amounts_(std::move(amounts)), most_recent_(most_recent) {}

  const std::vector<Amount>& amounts() const { return amounts_; }
  /// At the moment when this one or one beside it began, so many surely lived. In the order of run ids.
  std::optional<Excess> look(const HeldSpan& held);

 private:
  std::vector<Amount> amounts_;
  std::size_t most_recent_;
  std::deque<HeldSpan> recent_;        ///< those that ended last
};

}  // namespace rota::master::verify
