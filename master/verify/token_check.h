// P41: no more tokens of a semaphore are held at once than it has. What a run takes is read from the version
// of its job that it was made of; how many there are, from the semaphore's stored versions. Runs of one-offs
// are left out, so that it claims too little and never too much.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
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

/// Thread: one. All references outlive it.
class TokenCheck {
 public:
  TokenCheck(const Sources& sources, Check& check) : sources_(sources), check_(check) {}

  /// A version of a job whose runs come. Those without `uses` cost nothing.
  void learn(const model::JobVersionRow& version);
  /// In the order of run ids.
  Result<void> look_at(const model::Run& run, const std::vector<Span>& spans);

 private:
  using Name = std::pair<std::string, std::string>;
  struct Held {
    Span span;
    std::int32_t tokens = 0;
    Sent sent;
  };
  struct Semaphore {
    std::vector<model::SemaphoreRow> versions;
    std::deque<Held> recent;           ///< those that ended last
  };

  Result<Semaphore*> semaphore(const Name& name);
  void look_beside(const Name& name, Semaphore& semaphore, const Held& held);

  const Sources& sources_;
  Check& check_;
  std::map<std::pair<JobId, JobVersion>, std::map<std::string, std::int32_t>> uses_;
  std::map<Name, Semaphore> semaphores_;
};

/// The highest count that may have been in force when that attempt was sent. Within a Term times tell what
/// was first; of two Terms, which may have had different clocks, only that one followed the other. Pure.
std::int64_t most_tokens(const std::vector<model::SemaphoreRow>& versions, const Sent& sent);

}  // namespace rota::master::verify
