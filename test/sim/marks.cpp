#include "marks.h"

#include "common/base/check.h"

namespace rota::sim {
namespace {

constexpr const char* kNames[] = {
    // faults
    "fault_leader_crash", "fault_leader_freeze", "fault_leader_cut_from_zookeeper",
    "fault_leader_clock_jump", "fault_zookeeper_down", "fault_database_down", "fault_apply_failed",
    "fault_apply_unknown_applied", "fault_apply_unknown_not_applied", "fault_apply_slow",
    "fault_proper_crash", "fault_warden_crash", "fault_host_lost", "fault_worker_cut_from_zookeeper",
    "fault_worker_cut_from_masters", "fault_worker_cut_off", "fault_drain", "fault_request_lost",
    "fault_answer_lost", "fault_message_delayed", "fault_message_doubled", "fault_report_lost",
    "fault_acknowledgement_lost", "fault_second_life_beside_the_first",
    // what followed
    "took_office", "term_fenced", "term_lost_its_store", "term_saw_higher_epoch", "batch_rerun",
    "answer_unknown", "answer_not_leader", "key_repeated", "key_conflict", "old_epoch_refused",
    "wrong_life_refused", "no_slot_refused", "no_voucher_refused", "draining_refused",
    "attempt_taken_twice", "attempt_adopted", "attempt_proven_dead", "attempt_given_up_at_fence",
    "attempt_resent_after_inventory", "killed_without_voucher", "kill_not_proven", "lived_on_the_leaders_voucher",
    "lived_on_disconnect_grace", "result_late", "report_repeated", "run_lost", "run_retried",
    "run_timed_out", "run_cancelled_early", "run_killed", "run_skipped", "run_waited_behind",
    "tick_fired", "tick_overlap_skipped", "tick_queue_full", "tick_coalesced", "tick_late_skipped",
    "worker_drained", "worker_resumed", "drain_told", "resume_told", "attempt_handed_over",
    "job_edited", "job_paused", "job_resumed", "renewed", "renew_refused", "note_stored"};

}  // namespace

Marks::Marks() {
  for (const char* name : kNames) counts_[name] = 0;
}

void Marks::hit(const std::string& name, std::int64_t times) {
  const auto found = counts_.find(name);
  CHECK_OR_DIE(found != counts_.end(), name.c_str());
  found->second += times;
}

void Marks::add(const Marks& other) {
  for (const auto& [name, count] : other.counts_) counts_[name] += count;
}

}  // namespace rota::sim
