// The one table of the fixed names. Order follows the enums.
#include <array>
#include <string_view>

#include "common/model/run.h"
#include "common/model/worker.h"

namespace rota::model {
namespace {

constexpr std::array<std::string_view, 12> kRunStates = {
    "waiting", "queued",    "dispatched", "running", "succeeded",   "failed",
    "timed_out", "cancelled", "killed",     "kill_failed", "lost", "skipped"};
constexpr std::array<std::string_view, 6> kRunKinds = {"tick", "manual", "one_off", "after_freeze",
                                                        "worker_start", "child"};
constexpr std::array<std::string_view, 56> kReasons = {
    "none",           "no_worker_in_pool", "all_slots_busy",      "waits_for_run",
    "retry_delay",    "worker_unreconciled", "waits_for_fence",   "named_worker_absent",
    "workers_settling", "cluster_held",    "overlap_skipped",     "queue_full",
    "coalesced_into", "late_skipped",      "exit_status",         "signalled",
    "start_failed",   "attempt_timeout",   "cancelled_by_user",   "worker_lost",
    "attempt_died",   "kill_unproven",     "handler_failed",      "handler_unknown",
    "refused_by_worker", "output_lost", "memory_exceeded", "processes_exceeded",
    "cpu_exceeded",   "folder_exceeded",   "file_size_exceeded",
    "workers_draining", "handed_over",   "worker_unseen",
    "loss_limit", "waits_for_confirmation", "missed", "jitter",
    "frozen", "late_bounded", "calendar_edited", "caught_up", "worker_start_over", "replaced_by",
    "run_timeout",   "queue_timeout",     "waits_for_semaphore",
    "pool_limit",    "namespace_slots",   "namespace_unfinished", "namespace_firings", "cleanup_failed",
    "job_paused",    "no_such_job",       "child_too_deep",
    "no_worker_has"};
constexpr std::array<std::string_view, 9> kRefusals = {
    "none",    "wrong_life", "old_epoch",       "no_voucher", "no_slot",
    "draining", "tombstoned", "unknown_handler", "malformed"};

template <typename Enum, std::size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

static_assert(static_cast<std::size_t>(RunState::Skipped) + 1 == kRunStates.size());
static_assert(static_cast<std::size_t>(RunKind::Child) + 1 == kRunKinds.size());
static_assert(static_cast<std::size_t>(Reason::NoWorkerHas) + 1 == kReasons.size());
static_assert(static_cast<std::size_t>(Refusal::Malformed) + 1 == kRefusals.size());

}  // namespace

std::string_view name_of(RunState state) { return kRunStates.at(static_cast<std::size_t>(state)); }
std::string_view name_of(RunKind kind) { return kRunKinds.at(static_cast<std::size_t>(kind)); }
std::string_view name_of(Reason reason) { return kReasons.at(static_cast<std::size_t>(reason)); }
std::string_view name_of(Refusal refusal) { return kRefusals.at(static_cast<std::size_t>(refusal)); }

std::optional<RunState> run_state_named(std::string_view name) {
  return find_name<RunState>(kRunStates, name);
}
std::optional<RunKind> run_kind_named(std::string_view name) {
  return find_name<RunKind>(kRunKinds, name);
}
std::optional<Reason> reason_named(std::string_view name) { return find_name<Reason>(kReasons, name); }
std::optional<Refusal> refusal_named(std::string_view name) {
  return find_name<Refusal>(kRefusals, name);
}

}  // namespace rota::model
