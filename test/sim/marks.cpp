#include "marks.h"

#include "common/base/check.h"

namespace rota::sim {
namespace {

constexpr const char* kNames[] = {
    // faults
    "fault_leader_crash", "fault_master_crash", "fault_leader_freeze", "fault_leader_cut_from_zookeeper",
    "fault_candidate_deleted", "fault_clock_jump", "fault_clock_drift", "fault_clocks_together", "fault_zookeeper_down",
    "fault_follower_cut", "fault_follower_lags", "fault_database_down", "fault_frozen_in_transaction",
    "fault_database_restored", "fault_replica_promoted", "loss_seen_by_its_leader",
    "loss_too_small_to_notice", "fault_proper_crash", "fault_proper_freeze", "fault_warden_crash",
    "fault_host_lost", "fault_disk_lost", "fault_host_replaced", "fault_worker_cut_from_zookeeper",
    "fault_worker_cut_from_masters", "fault_worker_cut_off", "fault_one_way_cut", "fault_sessions_ended", "fault_drain",
    "fault_outbox_full", "fault_bit_flipped", "fault_worker_clock_jump", "fault_session_file_lost", "fault_apply_failed", "fault_apply_unknown_applied",
    "fault_apply_unknown_not_applied", "fault_apply_slow", "fault_request_lost", "fault_answer_lost",
    "fault_message_delayed", "fault_message_doubled", "fault_report_lost", "fault_acknowledgement_lost",
    "fault_zookeeper_answer_lost", "fault_other_takeover_between", "fault_death_in_takeover",
    "fault_second_cluster", "fault_nodes_deleted", "fault_host_frozen", "fault_zookeeper_wiped", "fault_zookeeper_restored",
    "fault_ownerless_node", "fault_database_node_lags", "fault_lease_server_away", "fault_lease_answers_lost", "fault_lease_forgotten",
    // what followed
    "candidacy_lost", "elected_by_lease", "two_hold_the_lease", "deposed_at_a_lagging_node", "takeover_at_a_lagging_node", "takeover_blocked_by_a_frozen_leader", "takeover_unknown_applied",
    "takeover_unknown_not_applied", "takeover_lost_race", "takeover_failed", "restore_alarm", "ticks_held", "clock_step_held", "clock_accepted",
    "ticks_rewound",
    "term_contradicted", "inbox_full", "tombstone_refused", "rival_left",
    "outbox_torn", "outcome_damaged", "start_reported",
    "single_fault_harmless", "job_refused_to_die", "job_deleted", "success_given_up_at_fence", "took_office", "term_fenced", "term_lost_its_store", "term_saw_higher_epoch", "batch_rerun", "first_dispatch_judged", "batch_decided_beside", "batch_prepared", "failed_before_prepared_batch", "crash_while_storing", "crash_with_prepared_batch",
    "answer_unknown", "answer_not_leader", "key_repeated", "key_vouched_for", "vouched_key_refused", "key_conflict", "old_epoch_refused", "epoch_refused",
    "wrong_life_refused", "no_slot_refused", "no_voucher_refused", "draining_refused",
    "attempt_taken_twice", "attempt_adopted", "forgotten_attempt_taken_up", "attempt_proven_dead",
    "attempt_given_up_at_fence",
    "attempt_resent_after_inventory", "killed_without_voucher", "kill_not_proven", "lived_on_the_leaders_voucher",
    "lived_on_disconnect_grace", "result_late", "report_repeated", "run_lost", "loss_limit_reached", "death_confirmed", "living_worker_not_confirmed",
    "run_waited_for_confirmation", "run_retried", "retried_when_not_ready", "retried_on_another_worker", "started_by_handler",
    "route_with_one_in_mind_judged", "busyover_judged", "preference_met", "preference_over", "busyover_passed_a_full_worker", "key_went_home",
    "run_timed_out", "run_timeout_reached", "run_timeout_after_a_loss", "queue_timeout_reached",
    "run_cancelled_early", "run_killed", "run_skipped", "run_waited_behind",
    "run_replaced_before_it_began", "run_replaced_under_way", "runs_of_a_job_side_by_side", "concurrency_was_reached",
    "tick_fired", "tick_overlap_skipped", "tick_queue_full", "tick_coalesced", "tick_late_skipped", "tick_missed", "tick_slice_stored",
    "tick_of_two_entries", "tick_after_end", "start_jittered", "job_done_by_firings", "job_done_by_success",
    "job_paused_by_failures",
    "frozen", "freeze_ended", "tick_frozen", "frozen_tick_made_up", "run_caught_up", "run_waits_to_be_caught_up",
    "child_begun", "grandchild_begun", "child_skipped", "child_of_a_paused_job", "child_of_a_failure",
    "children_owed", "owed_child_begun",
    "worker_start_fired", "worker_start_over", "worker_start_skipped", "start_met_again",
    "worker_drained", "worker_resumed", "drain_told", "resume_told", "attempt_handed_over",
    "job_edited", "job_paused", "job_resumed", "job_undeleted", "renewed", "renew_refused", "note_stored",
    "beats_seen_to_end", "beats_seen_to_go_on",
    "all_tokens_held", "semaphore_changed", "semaphore_closed", "semaphore_deleted", "semaphore_in_use_not_deleted",
    "tokens_of_lives_judged",
    "wide_run_started", "wide_run_refused", "all_slots_taken_with_a_wide_run", "all_of_an_amount_taken",
    "pool_limit_reached", "namespace_slots_reached", "tick_beyond_unfinished", "tick_beyond_firings",
    "limits_changed", "default_time_judged", "default_time_reached", "request_beyond_a_limit",
    "cleanup_begun", "cleanup_failed", "cleanup_without_voucher", "cleaned_up_behind_the_dead", "cleanup_keeps_its_run_away",
    "setting_changed", "setting_edit_stale", "setting_goes_on_in_a_new_term",
    "worker_excluded", "worker_on_trial", "worker_flapping", "hold_goes_on_in_a_new_term",
    "failure_told", "self_pause_told", "missed_tick_told", "hold_told", "worker_offline_told", "notification_delivered",
    "notification_tried_again", "notification_heard_twice", "notification_open_at_takeover",
    "autoscale_set", "scaled_out", "scaled_in", "worker_stoppable", "worker_stopped_by_hook", "hook_called_again",
    "hook_call_repeated", "scale_change_replaced",
    "calendar_created", "calendar_edited", "calendar_deleted", "calendar_edit_stale", "calendar_edit_unknown",
    "calendar_edit_unknown_but_stored", "calendar_edit_refused_in_a_hold", "calendar_in_use_not_deleted",
    "calendar_edited_at_a_tick", "calendar_edit_counted_in_a_later_term", "leader_struck_when_an_edit_counts",
    "tick_left_out_by_calendar", "tick_moved_on_by_calendar", "tick_moved_back_by_calendar",
    "tick_of_working_day_by_calendar", "tick_edited_away", "tick_by_another_day", "tick_by_two_calendars",
    "zookeeper_adopted", "zookeeper_accepted", "refused_as_foreign", "operator_asked", "identity_rewritten",
    "unseen_workers_gone", "stood_still_told", "followed_while_its_host_stood_still",
    "master_reattached", "worker_reattached", "loss_of_zookeeper_noticed", "worker_awaited", "registered_after_loss",
    "ghost_removed",
    "late_start_within_told", "late_finish_by_told", "late_longer_than_told", "late_told_of_a_gap", "late_told_of_a_pause",
    "late_told_by_a_later_term", "expectation_met", "met_unknown_to_the_leader", "worker_dead_told"};

}  // namespace

Marks::Marks() {
  for (const char* name : kNames) counts_[name] = 0;
}

void Marks::hit(std::string_view name, std::int64_t times) {
  const auto found = counts_.find(name);
  CHECK_OR_DIE(found != counts_.end(), std::string(name).c_str());
  found->second += times;
}

void Marks::add(const Marks& other) {
  for (const auto& [name, count] : other.counts_) counts_[name] += count;
}

std::map<std::string, std::int64_t> Marks::counts() const { return {counts_.begin(), counts_.end()}; }

}  // namespace rota::sim
