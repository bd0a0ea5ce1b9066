// A worker of a simulated world: warden and proper with their own ends, sessions and beats, an outbox
// that survives, and production's attempt table, voucher rules and lease rules.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/model/worker.h"
#include "master/core/effect.h"
#include "master/core/event.h"
#include "worker/run/attempt_table.h"
#include "worker/run/voucher_rules.h"

namespace rota::sim {

class World;

/// Thread: one. Owned by the world.
class SimWorker {
 public:
  SimWorker(World& world, std::size_t index, std::int32_t slots);

  // --- what the leader asks; empty when nobody answers at that port
  std::optional<model::Inventory> hello(Epoch epoch, std::size_t master, const model::WorkerKey& to);
  std::optional<std::vector<master::core::DispatchVerdict>> dispatch(
      Epoch epoch, const master::core::SendDispatch& message);
  void cancel(Epoch epoch, const master::core::SendCancel& message);
  void drain(Epoch epoch, const master::core::SendDrain& message);

  // --- what happens to it
  void start_host();
  void crash_proper();
  void crash_warden();
  void lose_host(Millis for_long);
  void set_draining(bool draining);
  bool runs_something() const { return !processes_.empty(); }
  bool is_quiet() const { return processes_.empty() && outbox_.empty(); }

  bool cut_from_zookeeper = false;
  bool cut_from_masters = false;

 private:
  struct Process {
    std::int64_t serial = 0;
    WallTime started{};
    Millis disconnect_grace{0};
    model::WorkerKey life;
  };

  model::WorkerInfo info() const;
  bool reaches_zookeeper() const;
  void start_proper();
  void begin_life();
  void tell_draining();
  void try_register(std::int64_t life);
  void end_older_lives();
  void beat(std::int64_t life);
  void renew(std::int64_t life);
  void send_renew();
  void report(std::int64_t life);
  void send_reports();
  void look_at_vouchers();
  void lapse();
  void start(const master::core::DispatchItem& item);
  void end_process(model::AttemptKey key, std::int64_t serial, model::Outcome outcome);
  void kill_unvouched(model::AttemptKey key, std::int64_t serial);
  void kill_all_silently();
  model::Refusal note(model::Refusal refusal, bool is_new);

  World& world_;
  const std::size_t index_;
  const std::string id_;
  const std::int32_t slots_;
  bool host_up_ = false;
  bool proper_up_ = false;
  bool registered_ = false;
  bool draining_ = false;
  bool drain_told_ = false;
  bool lapsed_ = false;
  std::int64_t life_ = 0;               ///< number of the present incarnation; older deeds are void
  std::int64_t serials_ = 0;
  model::WorkerKey key_;
  std::unique_ptr<worker::run::AttemptTable> table_;
  worker::run::VoucherRules vouchers_;
  Epoch epoch_on_disk_;
  std::optional<std::size_t> leader_;
  std::map<model::AttemptKey, Process> processes_;
  std::map<model::AttemptKey, std::pair<model::WorkerKey, model::Outcome>> outbox_;
};

}  // namespace rota::sim
