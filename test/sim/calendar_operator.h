// The operator of a simulated world's calendars: applies, edits and deletes them, and jobs that name them. Often so
// that an edit counts from a tick on, and sometimes the leader dies just then. An edit without a clear answer is made
// again (P10).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calendar_draw.h"
#include "master/core/effect.h"
#include "master/core/event.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the clients.
class CalendarOperator {
 public:
  using Make = std::function<master::core::Event(Token)>;
  using Then = std::function<void(const master::core::ReplyBody&)>;
  using Ask = std::function<void(Make, Then)>;

  CalendarOperator(World& world, Ask ask);

  /// Of most worlds; then nothing here does anything.
  bool is_idle() const { return jobs_ == 0; }
  /// Of how many jobs the schedules name calendars.
  std::size_t jobs() const { return jobs_; }
  std::vector<std::string> entries() { return draw_.entries(); }
  void begin();
  /// No more edits.
  void stop() { stopped_ = true; }

 private:
  /// One edit, perhaps asked several times.
  struct Edit {
    std::shared_ptr<const model::Calendar> calendar;
    std::optional<std::int32_t> expected;
    bool was_unknown = false;
  };

  void act();
  void edit(const std::string& name);
  void apply(Edit edit);
  void receive(const Edit& edit, const master::core::ReplyBody& body);
  void receive_applied(const Edit& edit, const master::core::CalendarApplied& applied);
  void remove(const std::string& name);
  void strike_at(WallTime from);
  Millis until_edit_meets_a_tick();

  World& world_;
  Random dice_;                          ///< its own, so that worlds without calendars stay as they are
  std::size_t jobs_ = 0;
  CalendarDraw draw_;
  Ask ask_;
  bool stopped_ = false;
  std::map<std::string, std::int32_t> known_;  ///< the version that the last answer named
};

}  // namespace rota::sim
