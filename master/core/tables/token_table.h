// Semaphores and who holds their tokens, and the order in which those get theirs who wait. Of a run all its
// tokens are taken at once, or none.
//
// Runs that wait in the same queue (slot_queue_key.h) ask for the same tokens: to a semaphore a queue is one
// line. A line that asks and finds too few free stands in line at each semaphore that it names, by the moment
// when it first asked. Nobody behind it gets a token of these, so that one who needs many is not passed for
// ever by those who need few. As all semaphores go by the same order, the first of all waits for holders
// alone, and no two wait for each other. A line whose runs no worker can take now steps back and keeps its
// place.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/base/ids.h"
#include "common/model/semaphore.h"
#include "master/core/tables/slot_queue_key.h"

namespace rota::master::core {

/// Thread: the Scheduler's. State alone takes tokens and gives them back.
class TokenTable {
 public:
  using Line = const SlotQueueKey;

  /// One semaphore. Changed by TokenTable alone.
  class Entry {
   public:
    const model::SemaphoreRow& newest() const { return newest_; }
    /// Tokens that runs hold; more than the count when that was lowered meanwhile.
    std::int64_t held() const { return held_; }
    /// Runs and how many each of them holds.
    const std::map<RunId, std::int32_t>& holders() const { return holders_; }
    /// Lines that wait, the first first.
    const std::map<std::int64_t, Line*>& waiting() const { return waiting_; }

   private:
    friend class TokenTable;
    model::SemaphoreRow newest_;
    std::int64_t held_ = 0;
    std::map<RunId, std::int32_t> holders_;
    std::map<std::int64_t, Line*> waiting_;  ///< by the number of their ticket
  };
  using Entries = std::map<SemaphoreName, Entry>;

  // --- semaphores
  /// nullptr: there is none, or it is deleted.
  const Entry* find(const SemaphoreName& name) const;
  /// The number of the newest version, also of a deleted one; 0: the name was never used.
  std::int32_t last_version(const SemaphoreName& name) const;
  /// A version that follows all others of its semaphore. Who holds a token keeps it.
  void put(model::SemaphoreRow row);
  /// Deleted ones too: their numbers go on.
  const Entries& all() const { return entries_; }
  std::size_t size() const { return live_; }

  // --- lines
  /// Whether a run of this queue may take its tokens now. If not, the queue stands in line from now on.
  bool ask(const SlotQueueKey& queue);
  /// The same, and nothing changes.
  bool would_get(const SlotQueueKey& queue) const;
  /// No worker can take its runs now: it stands in nobody's way, and keeps its place.
  void step_back(const SlotQueueKey& queue);
  /// No run waits in it any more, or one was sent: the next asks anew, behind those that wait.
  void leave(const SlotQueueKey& queue);
  /// A semaphore that this queue lacks: closed, smaller than what is asked, deleted; or else the first of
  /// which too few are free, or that has others before it. nullptr: none, a run would get its tokens.
  const SemaphoreName* lacking(const SlotQueueKey& queue) const;
  /// A line that stands before this one where it asks; nullptr: none.
  Line* before(const SlotQueueKey& queue) const;
  /// Its place among all lines; one that has not asked comes last.
  std::int64_t ticket_of(const SlotQueueKey& queue) const;
  /// How many lines stand before this one at that semaphore.
  std::size_t lines_before(const SlotQueueKey& queue, const SemaphoreName& name) const;

  // --- pools in which a line may get now what it did not get before
  const std::set<std::string>& pools_to_look_at() const { return pools_; }
  std::set<std::string> take_pools() { return std::exchange(pools_, {}); }

 private:
  friend class State;
  friend struct TokenSurgery;          // tests drive it alone
  struct Ticket {
    std::int64_t number = 0;
    bool stands = false;               ///< in line at all that it names
  };
  using Tickets = std::map<SlotQueueKey, Ticket>;

  void take(RunId run, const TokenNeeds& uses);
  void give_back(RunId run, const TokenNeeds& uses);

  bool can_ever_get(const TokenNeeds& uses) const;
  bool gets_now(const TokenNeeds& uses, std::int64_t ticket) const;
  bool has_free(const SemaphoreName& name, std::int32_t wanted) const;
  bool is_next(const SemaphoreName& name, std::int64_t ticket) const;
  void look_at_first(const Entry& entry);
  void stand(Tickets::iterator at);
  void unstand(Tickets::iterator at);

  Entries entries_;
  std::size_t live_ = 0;
  Tickets tickets_;                    ///< of queues that asked since a run of theirs was sent
  std::int64_t last_ticket_ = 0;
  std::set<std::string> pools_;
};

}  // namespace rota::master::core
