// The field table of job definitions: one row for each field of the structs in job.h. To add a plain
// field: the IDL (thrift/job.thrift), the struct (job.h), and one row here, at the end of its struct's rows
// (those of JobLimits and JobWork stand in work_fields.h, with the same rules). Its default is the member's
// initial value, in the IDL too. All else is made from the row (field.h says what).
//
// Never change the order of rows, nor `in_hash`, `hash_name` and `content_id` of one that stands: stored
// fingerprints and ids of one-offs hang on them (test/unit/fields/golden_test.cpp).
#pragma once

#include <type_traits>

#include "common/model/demand.h"
#include "common/model/field.h"
#include "common/model/child.h"
#include "common/model/field_bounds.h"
#include "common/model/job.h"
#include "common/model/semaphore.h"
#include "common/model/work_fields.h"

namespace rota::model {

/// In stored JSON, the pool of a job with `select`, `uses`, or a retry rule that forbids some ends: older
/// masters pass over those, and must not find a worker for such a job.
inline constexpr std::string_view kPoolOfSelect = "select.needs.a.newer.master";
/// Where the pool itself stands then; masters that know all of the above read it.
inline constexpr std::string_view kNewerPool = "newer_pool";
/// The same of a job with `slots` or `needs`, which those do not know.
inline constexpr std::string_view kPoolOfNeeds = "needs_pool";

/// A key of job files that holds a map.
struct KeyGroup {
  std::string_view key;
  std::string_view help;
  std::string_view unset;
  bool has_short_form = false;  ///< one value may stand for the map
};

inline constexpr KeyGroup kKeyGroups[] = {
    {"schedule",
     "when it fires: a line (`\"*/5 * * * *\"`, `\"@every 10s\"`, `\"@daily\"`), a map with one of "
     "`cron`, `every`, `at`, `after_end` and `working_day`, or a list of up to 16 of both; see "
     "[schedules.md](schedules.md)",
     "none: only by hand", true},
    {"timeout", "how long an attempt, a run and its wait may last: of an attempt, or a map", "none", true},
    {"retry", "other attempts after one that failed: a count, or a map", "see its keys", true},
    {"loss", "when an attempt is lost with its worker: what `then` takes, or a map", "see its keys", true},
    {"prefer", "which workers it waits for before it takes any: a map", "none"},
    {"limits", "what an attempt may use, see below", "none"},
    {"expect", "what is told as `late` when it is not met: a map; see [expectations.md](expectations.md)",
     "none"},
};

template <typename Visit>
constexpr void for_each_field(FieldsOf<Schedule>, Visit&& visit) {
  using Struct = Schedule;
  using enum FieldKind;
  visit(field<Choice>(ROTA_FIELD(kind, kind),
                   {.key = "schedule.kind",
                    .newer = {.word = "entries", .stand_in = "none", .json = "newer_kind"},
                    .in_hash = InHash::Always, .content_id = 1}));
  visit(field<Text>(ROTA_FIELD(cron, cron),
                   {.key = "schedule.cron",
                    .help = "five, six or seven fields, see below, or `@daily` and the like",
                    .bytes = 1024, .unset = "none", .in_hash = InHash::Always, .content_id = 2}));
  visit(field<Choice>(ROTA_FIELD(dialect, dialect),
                   {.key = "schedule.dialect",
                    .help = "how the cron is read; `guess`: Quartz when there is a `?` in it, else "
                            "Unix",
                    .in_hash = InHash::Always, .content_id = 3}));
  visit(field<Text>(ROTA_FIELD(time_zone, time_zone),
                   {.key = "time_zone",
                    .help = "of the cron, by its IANA name",
                    .bytes = kMaxNameBytes, .in_hash = InHash::Always, .content_id = 4}));
  visit(field<Choice>(ROTA_FIELD(skipped_time, gap),
                   {.key = "schedule.skipped_time",
                    .help = "a local time of the cron that spring skips: fires at the end of what "
                            "is skipped, or not at all; `quartz`: skipped and repeated times exactly "
                            "as Quartz has them",
                    .former = "gap", .in_hash = InHash::Always, .content_id = 5}));
  visit(field<Choice>(ROTA_FIELD(repeated_time, fold),
                   {.key = "schedule.repeated_time",
                    .help = "a local time of the cron that autumn repeats: which of the two fires",
                    .former = "fold", .in_hash = InHash::Always, .content_id = 6}));
  visit(field<Duration>(ROTA_FIELD(interval, interval_ms),
                   {.key = "schedule.every",
                    .help = "at a fixed rate, counted from `start`, else from the job's creation",
                    .low = 100, .high = 3660 * kDayMs, .or_none = true, .unset = "none",
                    .in_hash = InHash::Always, .content_id = 7}));
  visit(field<Moment>(ROTA_FIELD(start, start_ms),
                   {.key = "start",
                    .help = "first valid moment; a fixed rate counts from it",
                    .unset = "none", .in_hash = InHash::Always, .content_id = 8}));
  visit(field<Moment>(ROTA_FIELD(end, end_ms),
                   {.key = "end",
                    .help = "last valid moment",
                    .unset = "none", .in_hash = InHash::Always, .content_id = 9}));
  visit(field<Texts>(ROTA_FIELD(entries, entries),
                   {.key = "schedule.entries",
                    .high = 16, .bytes = 2048, .unit = "entries", .is_stored_when_changed = true}));
}

template <typename Visit>
constexpr void for_each_field(FieldsOf<RetryRule>, Visit&& visit) {
  using Struct = RetryRule;
  using enum FieldKind;
  visit(field<Whole>(ROTA_FIELD(count, count),
                   {.key = "retry.count",
                    .help = "attempts beyond the first",
                    .high = 1000, .is_short_form = true, .in_hash = InHash::Always, .content_id = 1}));
  visit(field<Duration>(ROTA_FIELD(delay, delay_ms),
                   {.key = "retry.delay",
                    .help = "before the second attempt",
                    .high = 7 * kDayMs, .in_hash = InHash::Always, .content_id = 2}));
  visit(field<Number>(ROTA_FIELD(factor, factor),
                   {.key = "retry.factor",
                    .help = "each further delay is the last one times this",
                    .low = 1, .high = 100, .in_hash = InHash::Always, .content_id = 3}));
  visit(field<Duration>(ROTA_FIELD(max_delay, max_delay_ms),
                   {.key = "retry.max_delay",
                    .help = "no delay is longer",
                    .high = 30 * kDayMs, .in_hash = InHash::Always, .content_id = 4}));
  visit(field<Duration>(ROTA_FIELD(jitter, jitter_ms),
                   {.key = "retry.jitter",
                    .help = "each delay is longer by up to this, so that runs which failed together do not "
                            "start together",
                    .high = kDayMs, .is_stored_when_changed = true}));
  visit(field<Texts>(ROTA_FIELD(only, only),
                   {.key = "retry.only",
                    .help = "only these ends are tried again, see [retries.md](retries.md)",
                    .high = 32, .bytes = 512, .lines = LineForm::Ends, .unit = "ends", .unset = "all",
                    .is_stored_when_changed = true}));
  visit(field<Texts>(ROTA_FIELD(never, never),
                   {.key = "retry.never",
                    .help = "these ends are not tried again, whatever `only` says",
                    .high = 32, .bytes = 512, .lines = LineForm::Ends, .unit = "ends",
                    .is_stored_when_changed = true}));
  visit(field<Choice>(ROTA_FIELD(another_worker, another_worker),
                   {.key = "retry.another_worker",
                    .help = "`prefer`: another than the last one, if another can take it at once; `require`: "
                            "it waits for another",
                    .is_stored_when_changed = true}));
  visit(field<Text>(ROTA_FIELD(again, again),
                   {.key = "retry.again",
                    .help = "exit statuses that say \"not ready yet\": no failure, tried again `every` so "
                            "often for `at_most` so long",
                    .bytes = 512, .lines = LineForm::Again, .or_none = true, .unset = "none",
                    .is_stored_when_changed = true}));
}

template <typename Visit>
constexpr void for_each_field(FieldsOf<JobRules>, Visit&& visit) {
  using Struct = JobRules;
  using enum FieldKind;
  visit(field<Group>(ROTA_FIELD(schedule, schedule),
                   {.in_hash = InHash::Always, .content_id = 1}));
  visit(field<Choice>(ROTA_FIELD(overlap, overlap),
                   {.key = "overlap",
                    .help = "a tick while as many runs as `concurrency` allows are unfinished: see "
                            "[overlap.md](overlap.md)",
                    .newer = {.word = "queue_one replace terminate", .stand_in = "skip",
                              .json = "newer_overlap"},
                    .in_hash = InHash::Always, .content_id = 2}));
  visit(field<Whole>(ROTA_FIELD(queue_limit, queue_limit),
                   {.key = "queue_limit",
                    .help = "for `overlap: queue`: more waiting runs than this are skipped",
                    .low = 1, .high = 10'000, .in_hash = InHash::Always, .content_id = 3}));
  visit(field<Choice>(ROTA_FIELD(late, late),
                   {.key = "late",
                    .help = "ticks later than `tick_grace`: the newest fires and stands for the "
                            "others, or none, or each of them fires, oldest first",
                    .newer = {.word = "fire_all", .stand_in = "fire_once", .json = "newer_late"},
                    .in_hash = InHash::Always, .content_id = 4}));
  visit(field<Duration>(ROTA_FIELD(tick_grace, tick_grace_ms),
                   {.key = "tick_grace",
                    .help = "lateness up to which every tick fires",
                    .high = 7 * kDayMs, .in_hash = InHash::Always, .content_id = 5}));
  visit(field<Text>(ROTA_FIELD(pool, pool),
                   {.key = "pool",
                    .help = "the workers that it may run on",
                    .bytes = 64, .form = TextForm::Word,
                    .newer = {.word = "", .stand_in = kPoolOfSelect, .json = kNewerPool},
                    .in_hash = InHash::Always, .content_id = 6}));
  visit(field<Choice>(ROTA_FIELD(route, route),
                   {.key = "route",
                    .help = "which worker of the pool: see [routing.md](routing.md)",
                    .newer = {.word = "first last random consistent_hash least_frequently_used "
                                      "least_recently_used failover busyover weighted_round_robin "
                                      "least_connections fastest_response",
                              .stand_in = "least_loaded", .json = "newer_route"},
                    .in_hash = InHash::Always, .content_id = 7}));
  visit(field<Text>(ROTA_FIELD(worker, worker),
                   {.key = "worker",
                    .help = "the id of the one worker that it runs on; `route` is `named` then",
                    .bytes = 64, .form = TextForm::Word, .or_none = true, .unset = "none",
                    .in_hash = InHash::Always, .content_id = 8}));
  visit(field<Group>(ROTA_FIELD(retry, retry_rule),
                   {.in_hash = InHash::Always, .content_id = 9, .json = "retry"}));
  visit(field<Duration>(ROTA_FIELD(timeout, timeout_ms),
                   {.key = "timeout.attempt",
                    .help = "of one attempt; `0`: none",
                    .high = 365 * kDayMs, .unset = "none", .is_short_form = true,
                    .in_hash = InHash::Always, .content_id = 10}));
  visit(field<Duration>(ROTA_FIELD(kill_grace, kill_grace_ms),
                   {.key = "kill_grace",
                    .help = "between TERM and KILL",
                    .high = kHourMs, .in_hash = InHash::Always, .content_id = 11}));
  visit(field<Choice>(ROTA_FIELD(loss, loss),
                   {.key = "loss.then",
                    .help = "`rerun`: another attempt once this one must be dead; `never`; "
                            "`confirm`: another attempt once the worker itself, or `rota worker "
                            "confirm-dead W`, has said that this one is over",
                    .is_short_form = true, .spelling = {.in_file = "rerun", .on_wire = "after_fence"},
                    .newer = {.word = "confirm", .stand_in = "never", .json = "loss_then"},
                    .in_hash = InHash::Always, .content_id = 12}));
  visit(field<Duration>(ROTA_FIELD(disconnect_grace, disconnect_grace_ms),
                   {.key = "disconnect_grace",
                    .help = "how long an attempt may go on when its worker is cut off; not for a "
                            "handler inside of the worker",
                    .high = 7 * kDayMs, .in_hash = InHash::Always, .content_id = 13}));
  visit(field<Duration>(ROTA_FIELD(keep_logs, keep_logs_ms),
                   {.key = "keep_logs",
                    .help = "how long output is kept after a run's end",
                    .low = 60'000, .high = 3660 * kDayMs, .or_none = true, .or_forever = true,
                    .unset = "the masters' `logs.keep_ms`, 30 days", .in_hash = InHash::Bare,
                    .content_id = 14}));
  visit(field<Duration>(ROTA_FIELD(keep_runs, keep_runs_ms),
                   {.key = "keep_runs",
                    .help = "how long a run is kept after its end, with its output, and likewise "
                            "the ticks that did not fire",
                    .low = 60'000, .high = 3660 * kDayMs, .or_none = true, .or_forever = true,
                    .unset = "the masters' `runs.keep_ms`, 90 days", .hash_name = "keep_runs",
                    .content_id = 15}));
  visit(field<Whole>(ROTA_FIELD(loss_most, loss_most),
                   {.key = "loss.most",
                    .help = "after so many losses of one run it ends `lost` with the reason "
                            "`loss_limit`, so that a job that kills its host does not walk through "
                            "all of them; hand-overs of a drain do not count",
                    .low = 1, .high = 1000, .content_id = 16, .is_stored_when_changed = true}));
  visit(field<Whole>(ROTA_FIELD(firings, firings),
                   {.key = "firings",
                    .help = "after so many ticks that fired, the job is done: it fires no more, and its "
                            "history stays",
                    .low = 1, .high = 1'000'000, .or_none = true, .unset = "no end",
                    .is_stored_when_changed = true}));
  visit(field<Choice>(ROTA_FIELD(until, runs_until),
                   {.key = "until",
                    .help = "`success`: after its first run that succeeds, the job is done",
                    .is_stored_when_changed = true}));
  visit(field<Whole>(ROTA_FIELD(pause_after_failures, pause_after_failures),
                   {.key = "pause_after_failures",
                    .help = "so many runs in a row that did not succeed pause the job",
                    .low = 1, .high = 1000, .or_none = true, .unset = "never",
                    .is_stored_when_changed = true}));
  visit(field<Whole>(ROTA_FIELD(concurrency, concurrency),
                   {.key = "concurrency",
                    .help = "runs that may be unfinished at once, retry delays included; `overlap` says "
                            "what happens beyond that",
                    .low = 1, .high = 1000, .is_stored_when_changed = true}));
  visit(field<Text>(ROTA_FIELD(route_key, route_key),
                   {.key = "route_key",
                    .help = "for `route: consistent_hash`: runs with the same text prefer the same worker; "
                            "`{{param.NAME}}` is a parameter of the run",
                    .bytes = 256, .or_none = true, .unset = "the job", .is_stored_when_changed = true}));
  visit(field<TextMap>(ROTA_FIELD(select, select),
                   {.key = "select",
                    .help = "labels that its worker must have, like `{zone: fin, os: [deb12, deb13]}`: of a "
                            "list, one",
                    .bytes = 256, .is_of_words = true, .unset = "any worker of the pool",
                    .is_stored_when_changed = true}));
  visit(field<TextMap>(ROTA_FIELD(prefer, prefer),
                   {.key = "prefer.labels",
                    .help = "labels that its worker should have, like `{rack: r7}`: of a list, one; after "
                            "`for` any worker that `select` allows may take it",
                    .bytes = 256, .is_of_words = true, .unset = "none",
                    .is_stored_when_changed = true}));
  visit(field<Duration>(ROTA_FIELD(prefer_for, prefer_for_ms),
                   {.key = "prefer.for",
                    .help = "how long a run waits for a worker with these labels",
                    .low = 1, .high = 7 * kDayMs, .is_stored_when_changed = true}));
  visit(field<Duration>(ROTA_FIELD(run_timeout, run_timeout_ms),
                   {.key = "timeout.run",
                    .help = "of a run with all of its attempts and the pauses between them, from the start "
                            "of the first",
                    .low = 1, .high = 365 * kDayMs, .or_none = true, .unset = "none",
                    .is_stored_when_changed = true}));
  visit(field<Duration>(ROTA_FIELD(queue_timeout, queue_timeout_ms),
                   {.key = "timeout.queue",
                    .help = "of the wait for the first attempt, from the moment at which the job fired",
                    .low = 1, .high = 365 * kDayMs, .or_none = true, .unset = "none",
                    .is_stored_when_changed = true}));
  visit(field<Whole>(ROTA_FIELD(priority, priority),
                   {.key = "priority",
                    .help = "whose runs get free slots first, in one namespace; grows by 1 for each minute "
                            "since the job last got one",
                    .low = 0, .high = 100, .is_stored_when_changed = true}));
  visit(field<CountMap>(ROTA_FIELD(uses, uses),
                   {.key = "uses",
                    .help = "tokens of semaphores that a run holds while it is under way, like "
                            "`{oracle: 1}`; it waits until it gets all of them",
                    .low = 1, .high = kMaxTokens, .bytes = kMaxSemaphoreName, .unset = "none",
                    .is_stored_when_changed = true}));
  visit(field<Texts>(ROTA_FIELD(notify, notify),
                   {.key = "notify",
                    .help = "receivers that hear when its runs fail and the like, see "
                            "[notifications.md](notifications.md); `[nobody]`: none",
                    .high = 16, .bytes = 64, .unit = "receivers",
                    .unset = "those of `notify.default` in the masters' settings",
                    .is_stored_when_changed = true}));
  visit(field<Duration>(ROTA_FIELD(expect_start_within, expect_start_within_ms),
                   {.key = "expect.start_within",
                    .help = "from the planned moment, or the request, to the start of the first attempt",
                    .low = 1, .high = 365 * kDayMs, .or_none = true, .unset = "not expected",
                    .is_stored_when_changed = true}));
  visit(field<Text>(ROTA_FIELD(expect_finish_by, expect_finish_by),
                   {.key = "expect.finish_by",
                    .help = "a tick's run has succeeded by the next such time in `time_zone`: `\"07:30\"`",
                    .bytes = 5, .or_none = true, .unset = "not expected", .is_stored_when_changed = true}));
  visit(field<Text>(ROTA_FIELD(expect_longer_than, expect_longer_than),
                   {.key = "expect.longer_than",
                    .help = "a run that takes longer: a duration, or `3x` of the last 20 successes' median",
                    .bytes = 32, .or_none = true, .unset = "not expected", .is_stored_when_changed = true}));
  visit(field<Texts>(ROTA_FIELD(on_success, on_success),
                   {.key = "on_success",
                    .help = "child jobs: a run of each begins when a run of this one succeeds, see "
                            "[children.md](children.md)",
                    .high = kMostChildren, .bytes = kMaxNameBytes, .form = TextForm::Name, .unit = "jobs",
                    .unset = "none", .is_stored_when_changed = true}));
  visit(field<Texts>(ROTA_FIELD(on_failure, on_failure),
                   {.key = "on_failure",
                    .help = "child jobs for the end of a run that failed, timed out or was lost, after all "
                            "of its attempts",
                    .high = kMostChildren, .bytes = kMaxNameBytes, .form = TextForm::Name, .unit = "jobs",
                    .unset = "none", .is_stored_when_changed = true}));
  visit(field<Texts>(ROTA_FIELD(on_end, on_end),
                   {.key = "on_end",
                    .help = "child jobs for any end, also of a run that was cancelled",
                    .high = kMostChildren, .bytes = kMaxNameBytes, .form = TextForm::Name, .unit = "jobs",
                    .unset = "none", .is_stored_when_changed = true}));
  visit(field<Whole>(ROTA_FIELD(slots, slots),
                   {.key = "slots",
                    .help = "slots of its worker that each attempt takes; see "
                            "[needs.md](needs.md)",
                    .low = 1, .high = kMaxSlotsOfRun, .is_stored_when_changed = true}));
  visit(field<AmountMap>(ROTA_FIELD(needs, needs),
                   {.key = "needs",
                    .help = "amounts of what its worker offers that each attempt takes, like "
                            "`{memory: 8GiB, cpu: 2}`; see [needs.md](needs.md)",
                    .low = 1, .high = kMaxAmount, .bytes = kMaxAmountName, .unset = "none",
                    .is_stored_when_changed = true}));
}

template <typename Visit>
constexpr void for_each_field(FieldsOf<JobDefinition>, Visit&& visit) {
  using Struct = JobDefinition;
  using enum FieldKind;
  visit(field<Text>(ROTA_FIELD(space, space),
                   {.key = "namespace",
                    .help = "whose job it is; names are unique in it",
                    .bytes = 64, .form = TextForm::Word, .in_hash = InHash::Always, .content_id = 1,
                    .json = "namespace"}));
  visit(field<Text>(ROTA_FIELD(name, name),
                   {.key = "name",
                    .help = "unique in its namespace",
                    .bytes = kMaxNameBytes, .form = TextForm::Name, .or_none = true, .unset = "required",
                    .in_hash = InHash::Always, .content_id = 2}));
  visit(field<Text>(ROTA_FIELD(description, description),
                   {.key = "description",
                    .help = "for people",
                    .bytes = 4096, .unset = "none", .in_hash = InHash::Always, .content_id = 3}));
  visit(field<Text>(ROTA_FIELD(owner, owner),
                   {.key = "owner",
                    .help = "for people: whom to ask",
                    .bytes = 200, .unset = "none", .in_hash = InHash::Always, .content_id = 4}));
  visit(field<TextMap>(ROTA_FIELD(labels, labels),
                   {.key = "labels",
                    .help = "`name: value`, for people and filters",
                    .bytes = 1024, .unset = "none", .in_hash = InHash::Always, .content_id = 5}));
  visit(field<Group>(ROTA_FIELD(rules, rules),
                   {.in_hash = InHash::Always, .content_id = 6}));
  visit(field<Group>(ROTA_FIELD(work, work),
                   {.in_hash = InHash::Always, .content_id = 7}));
}

/// The rows of a struct and of the structs in it, without those of the structs themselves.
template <typename Struct, typename Visit>
constexpr void for_each_row(FieldsOf<Struct> fields, Visit&& visit) {
  for_each_field(fields, [&](const auto& row) {
    using Row = std::decay_t<decltype(row)>;
    if constexpr (Row::kind == FieldKind::Group) {
      for_each_row(FieldsOf<typename Row::value_type>{}, visit);
    } else {
      visit(row);
    }
  });
}

/// What the row of that key says; nothing when there is none.
inline FieldFacts facts_of(std::string_view key) {
  FieldFacts out;
  for_each_row(FieldsOf<JobDefinition>{}, [&](const auto& row) {
    if (row.key == key) out = row;
  });
  return out;
}

}  // namespace rota::model
