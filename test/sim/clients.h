// The clients of a simulated world: they apply, edit and pause jobs, request runs with keys, and cancel
// runs. A request without a clear answer is repeated with the same key (P10, P11).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "calendar_operator.h"
#include "common/model/job.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "random.h"
#include "quota_operator.h"
#include "sim_hooks.h"
#include "setting_operator.h"
#include "semaphore_operator.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the world.
class Clients {
 public:
  explicit Clients(World& world);
  void begin();
  /// No more requests; every job is paused.
  void stop();
  bool is_quiet() const;
  /// Checks that every acknowledged request is in the store. Empty, or what is missing.
  std::string judge() const;

 private:
  struct Submit {
    JobId job;
    std::string key;
    RunId run;                           ///< of the first clear answer
    bool stop_asked = false;
  };

  void add_crowd();
  void draw_preference(model::JobDefinition& job, bool at_starts);
  void draw_route(model::JobDefinition& job);
  void add_jobs_with_calendars();
  void change_entries();
  void act();
  void apply_all();
  void apply(std::size_t job);
  void pause(std::size_t job, bool paused);
  void submit(const std::string& key);
  void post_submit(const std::string& key, std::optional<master::core::UnusedKeys> unused);
  std::optional<master::core::UnusedKeys> vouch(const std::string& key);
  void apply_submit(const std::string& key, const master::core::ReplyBody& body);
  void run_now();
  void conflict();
  void cancel();
  void undelete(std::size_t job);
  void freeze();
  void confirm_dead(std::size_t worker);
  void confirm_what_waits();
  void drain();
  void ask_drain(std::size_t worker, bool draining, Millis deadline);
  void pause_all();
  void pause_at_end(std::size_t job);
  void pause_late(std::size_t job);
  void remove(std::size_t job);
  bool lacks(RunId run) const;
  /// Asks any master that thinks it leads; `then` gets an Error when no master answers in time.
  void ask(std::function<master::core::Event(Token)> make,
           std::function<void(const master::core::ReplyBody&)> then);

  World& world_;
  Random route_dice_, kind_dice_, prefer_dice_;
  Random limit_dice_;
  Random demand_dice_;
  Random expect_dice_;
  Random retry_dice_;
  Random child_dice_;
  CalendarOperator calendars_;
  SemaphoreOperator semaphores_;
  QuotaOperator quotas_;
  ScaleOperator scaling_;
  SettingOperator settings_;
  bool stopped_ = false;
  std::vector<model::JobDefinition> jobs_;
  std::vector<bool> paused_;
  std::size_t first_with_calendar_ = 0;  ///< of `jobs_`; the rest of them too
  std::map<std::string, Submit> submits_;
  std::set<RunId> cancelled_;          ///< acknowledged
  std::int64_t keys_ = 0;
  std::size_t pauses_open_ = 0;
};

}  // namespace rota::sim
