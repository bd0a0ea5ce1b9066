#include "master/pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/duration_text.h"
#include "common/config/load.h"
#include "common/http/metrics_page.h"
#include "common/http/page.h"
#include "common/http/process_metrics.h"
#include "common/wire/job_names.h"
#include "master/core/workers/worker_words.h"

namespace rota::master {
namespace {

using core::Snapshot;
using http::MetricsPage;
using Rows = std::vector<std::vector<std::string>>;

double number(std::int64_t value) { return static_cast<double>(value); }

/// 0 for what was never counted.
double in(const std::map<std::string, std::int64_t>& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : number(found->second);
}

double counter_in(const Snapshot& snapshot, const std::string& name) {
  return in(snapshot.counters, name);
}

// --- metrics ------------------------------------------------------------------------------------

void add_notifications(MetricsPage& page, const Snapshot& snapshot) {
  const auto counted = [&](const char* name, const char* key, const char* help) {
    page.counter(name, help, counter_in(snapshot, key));
  };
  page.gauge("rota_notifications_open", "Notifications that no receiver has accepted yet.",
             counter_in(snapshot, "notifications_open"));
  counted("rota_notifications_total", "notifications", "Notifications that were made.");
  counted("rota_notifications_delivered_total", "notifications_delivered", "Those that were accepted.");
  counted("rota_notifications_refused_total", "notifications_refused", "Tries to send one that failed.");
  counted("rota_late_told_total", "late_told", "Expectations of jobs that were not met.");
  counted("rota_children_total", "children", "Child jobs for which it was decided at the end of a run.");
  counted("rota_notifications_given_up_total", "notifications_given_up", "Those that were tried too often.");
  counted("rota_notifications_combined_total", "notifications_combined",
          "Events that were too many to be told one by one.");
}

void add_scaling(MetricsPage& page, const Snapshot& snapshot) {
  for (const core::ScaleView& view : snapshot.scaling) {
    page.gauge("rota_pool_workers_wanted", "Workers that the pool should have.", number(view.wanted),
               {{"pool", view.pool}});
  }
  for (const core::ScaleView& view : snapshot.scaling) {
    page.gauge("rota_pool_workers", "Workers of the pool that do not leave.", number(view.here),
               {{"pool", view.pool}});
  }
  for (const core::ScaleView& view : snapshot.scaling) {
    page.gauge("rota_pool_load", "Slots in use and runs that wait, averaged, of the slots of the pool.",
               view.load, {{"pool", view.pool}});
  }
  page.counter("rota_scale_changes_total", "Changes of wanted numbers of workers, and other calls of hooks.",
               counter_in(snapshot, "scale_changes"));
  page.counter("rota_hook_calls_total", "Calls of hooks that ended.", counter_in(snapshot, "hook_calls"));
  page.counter("rota_hook_refusals_total", "Those that failed.", counter_in(snapshot, "hook_refusals"));
  page.counter("rota_hooks_given_up_total", "Changes for which a hook was called too often.",
               counter_in(snapshot, "hooks_given_up"));
}

void add_runs(MetricsPage& page, const Snapshot& snapshot) {
  using model::RunState;
  for (int i = 0; i <= static_cast<int>(RunState::Lost); ++i) {
    const auto state = static_cast<RunState>(i);
    const std::string name(model::name_of(state));
    if (state < RunState::Succeeded) {
      page.gauge("rota_runs", "Unfinished runs.", in(snapshot.tallies.runs_by_state, name),
                 {{"state", name}});
    } else {
      page.counter("rota_attempts_ended_total", "Attempts that ended, by how.",
                   in(snapshot.tallies.attempts_ended, name), {{"state", name}});
    }
  }
  page.counter("rota_runs_recorded_total", "Runs recorded.", counter_in(snapshot, "runs_recorded"));
  page.counter("rota_runs_finished_total", "Runs that ended.",
               counter_in(snapshot, "runs_finished"));
  page.counter("rota_ticks_fired_total", "Ticks that became runs.",
               counter_in(snapshot, "ticks_fired"));
  page.counter("rota_ticks_gapped_total",
               "Ticks that did not fire, each with its reason in a gap row.",
               counter_in(snapshot, "ticks_skipped"));
  page.counter("rota_jobs_stuck_total", "Times that tick after tick of a job was skipped behind one run.",
               counter_in(snapshot, "stuck"));
  page.counter("rota_runs_replaced_total", "Runs that end, or were asked to, for a newer run of their job.",
               counter_in(snapshot, "replaced"));
  page.histogram("rota_tick_lateness_seconds", "How late ticks were recorded.",
                 snapshot.tallies.lateness);
  page.histogram("rota_dispatch_latency_seconds",
                 "From a run's dispatch being stored to its worker's yes.",
                 snapshot.tallies.dispatch_latency);
}

void add_loop(MetricsPage& page, const Snapshot& snapshot) {
  const core::Tallies& tallies = snapshot.tallies;
  page.gauge("rota_inbox_events", "Events that wait for the loop.", number(tallies.inbox_events));
  page.counter("rota_batches_total", "Batches stored.", counter_in(snapshot, "batches"));
  page.counter("rota_batches_failed_total", "Tries to store a batch that surely failed.",
               number(tallies.batches_failed));
  page.counter("rota_batches_unknown_total", "Tries whose COMMIT was not answered.",
               number(tallies.batches_unknown));
  page.histogram("rota_batch_seconds", "How long tries to store a batch took.", tallies.batch_time);
  page.counter("rota_dispatches_total", "Attempts sent to workers, repeats too.",
               counter_in(snapshot, "dispatches"));
  page.counter("rota_dispatches_refused_total", "Attempts that a worker did not take.",
               counter_in(snapshot, "refusals"));
  page.counter("rota_dispatches_unclear_total", "Attempts whose answer was lost.",
               counter_in(snapshot, "unclear_dispatches"));
  page.counter("rota_attempts_handed_over_total", "Attempts ended at the deadline of a drain.",
               counter_in(snapshot, "handed_over"));
  page.counter("rota_results_late_total", "Results of attempts that had been given up.",
               counter_in(snapshot, "late_results"));
  page.counter("rota_worker_holds_total", "Times that a worker was excluded, or was flapping.",
               counter_in(snapshot, "holds"));
  page.counter("rota_worker_warnings_total", "Times that a worker began to get half of its share.",
               counter_in(snapshot, "worker_warnings"));
  page.counter("rota_invariant_violations_total", "Broken invariants of the scheduler: bugs to be reported.",
               number(tallies.invariant_violations));
}

void add_workers(MetricsPage& page, const Snapshot& snapshot) {
  std::map<std::string, std::int64_t> states = {
      {"registering", 0}, {"online", 0}, {"busy", 0}, {"warning", 0}, {"draining", 0},
      {"excluded", 0}, {"flapping", 0}, {"offline", 0}, {"dead", 0}};
  std::int64_t slots = 0, busy = 0;
  for (const core::WorkerView& worker : snapshot.workers) {
    ++states[worker.state];
    slots += core::is_away(worker) ? 0 : worker.info->slots;
    busy += worker.used_slots;
  }
  for (const auto& [state, count] : states) {
    page.gauge("rota_workers", "Workers by state.", number(count), {{"state", state}});
  }
  page.gauge("rota_slots", "Slots of all workers that are here.", number(slots));
  page.gauge("rota_slots_busy", "Slots that are taken.", number(busy));
}

/// Pools and namespaces with limits, the first hundred of each.
/// Of the first hundred pools and of so many namespaces that have limits. One metric after another: the
/// format wants all samples of a metric side by side.
void add_quotas(MetricsPage& page, const core::Snapshot& snapshot) {
  constexpr std::size_t kMostTold = 100;
  std::vector<std::pair<std::pair<std::string, std::string>, const core::QuotaView*>> told;
  const auto add = [&](const char* side, const std::vector<core::QuotaView>& views) {
    const std::size_t before = told.size();
    for (const core::QuotaView& view : views) {
      if (view.version > 0 && told.size() - before < kMostTold) told.push_back({{side, view.name}, &view});
    }
  };
  add("pool", snapshot.pools);
  add("namespace", snapshot.namespaces);
  for (const auto& [of, view] : told) {
    page.gauge("rota_limited_running", "Runs under way in a pool or namespace with limits.",
               number(view->held), {of});
  }
  for (const auto& [of, view] : told) {
    page.gauge("rota_limited_waiting", "Runs that wait for a slot there.", number(view->queued), {of});
  }
  for (const auto& [of, view] : told) {
    if (view->quota.slots < 0) continue;
    page.gauge("rota_limited_most", "Runs that may be under way there at once.",
               number(view->quota.slots), {of});
  }
}

void add_log_refusals(MetricsPage& page, const api::LogRefusals& refused) {
  const std::pair<const char*, std::int64_t> counts[] = {{"other_content", refused.other_content},
                                                         {"unknown_run", refused.unknown_run},
                                                         {"impossible_place", refused.impossible_place},
                                                         {"damaged", refused.damaged}};
  for (const auto& [why, count] : counts) {
    page.counter("rota_log_chunks_refused_total", "Pieces of output that were not stored, by why.",
                 number(count), {{"why", why}});
  }
  page.counter("rota_log_chunks_unwanted_total",
               "Late pieces of output of runs that retention had deleted.",
               number(refused.no_longer_kept));
}

std::string metrics_of(const PageFacts& facts) {
  MetricsPage page;
  page.gauge("rota_master_leading", "1 while this master leads.", facts.leading ? 1 : 0);
  page.gauge("rota_master_epoch", "Epoch of the Term that this master holds; 0: none.",
             number(facts.leading.value_or(Epoch{}).value));
  page.gauge("rota_healthy", "1 while the self check finds nothing.",
             facts.check.verdict == "ok" ? 1 : 0);
  for (const auto& [part, word] : facts.check.words) {
    page.gauge("rota_part_healthy", "1 while this part is well.",
               word == "ok" ? 1 : 0, {{"part", part}});
  }
  const bool is_led = facts.office.leads != Leads::Nobody;
  page.gauge("rota_leader_known", "1 while this master leads, or knows who does.", is_led ? 1 : 0);
  page.gauge("rota_seconds_without_leader", "For how long no leader has been known here; 0 while one is.",
             is_led ? 0 : number(floor_ms(facts.now - facts.office.since).count()) / 1000);
  for (const Hurdle hurdle : kHurdles) {
    page.gauge("rota_kept_from_office", "1 while this keeps the master from office.",
               facts.office.troubles.contains(hurdle) ? 1 : 0, {{"by", std::string(name_of(hurdle))}});
  }
  page.gauge("rota_disk_free_bytes", "Free where the state folder lies.",
             number(facts.check.disk_free_bytes));
  page.counter("rota_stale_commands_refused_total",
               "Commands of this master that a worker refused, knowing a higher epoch.",
               number(facts.stale_commands_refused));
  add_log_refusals(page, facts.log_refusals);
  if (facts.snapshot) {
    const Snapshot& snapshot = *facts.snapshot;
    page.counter("rota_stale_batches_refused_total",
                 "Batches that the database refused, holding another epoch.",
                 counter_in(snapshot, "stale_refused"));
    page.gauge("rota_ticks_held", "1 while ticks are held.", facts.tick_hold.empty() ? 0 : 1);
    page.gauge("rota_jobs", "Saved jobs.", number(snapshot.jobs));
    page.gauge("rota_calendars", "Saved calendars.", counter_in(snapshot, "calendars"));
    page.gauge("rota_calendars_ending", "Calendars that cover no day from some day in 60 days on.",
               counter_in(snapshot, "calendars_ending"));
    add_notifications(page, snapshot);
    add_scaling(page, snapshot);
    add_runs(page, snapshot);
    add_loop(page, snapshot);
    add_workers(page, snapshot);
    add_quotas(page, snapshot);
  }
  const host::ProcessReading& process = facts.check.process;
  http::add_process(page, {process.cpu_seconds, process.resident_bytes, process.threads,
                           process.open_descriptors, process.most_descriptors},
                    "master", facts.version);
  return page.text();
}

// --- status page --------------------------------------------------------------------------------

constexpr int kRefreshSeconds = 5;

std::string when(WallTime at) { return format_moment(at); }

std::string percent(const std::optional<model::WorkerVitals>& vitals,
                    std::int32_t model::WorkerVitals::*field) {
  return vitals ? fmt::format("{} %", (*vitals).*field) : "-";
}

/// How old the figures of a worker are.
std::string age_of(const std::optional<model::WorkerVitals>& vitals, WallTime now) {
  if (!vitals) return "-";
  return fmt::format("{} s", std::max<std::int64_t>(0, (now - vitals->sampled).count() / 1000));
}

/// Of this master alone; the others are asked by `rota master list`.
std::vector<std::string> figures_of(const PageFacts& facts, const api::MasterView& master) {
  if (master.id != facts.id || !facts.figures) return {"-", "-", "-", "-", "-"};
  const api::MasterFigures& own = *facts.figures;
  const auto age = std::max<std::int64_t>(0, floor_ms(facts.now - own.sampled).count() / 1000);
  return {fmt::format("{} %", own.cpu_percent), fmt::format("{} %", own.memory_percent),
          fmt::format("{} MiB", own.disk_free_bytes >> 20), std::to_string(own.threads),
          fmt::format("{} s", age)};
}

void show_masters(http::Page& page, const PageFacts& facts) {
  Rows rows;
  for (const api::MasterView& master : facts.check.masters) {
    Rows::value_type row = {master.id, fmt::format("{}:{}", master.address.host, master.address.port),
                            master.leads ? "leader" : "follower"};
    for (std::string& text : figures_of(facts, master)) row.push_back(std::move(text));
    row.push_back(master.health);
    rows.push_back(std::move(row));
  }
  page.heading("Masters");
  page.table({"master", "address", "role", "cpu", "memory", "disk free", "threads", "figures' age", "health"},
             rows, "None is known yet.");
}

std::string heartbeat_of(const core::WorkerView& worker, WallTime now) {
  if (!worker.heard) return "-";
  return fmt::format("{} s", std::max<std::int64_t>(0, (now - *worker.heard).count() / 1000));
}

std::string share_of(const core::WorkerView& worker) {
  return worker.share.of == 0 ? "-" : fmt::format("{} of {}", worker.share.given, worker.share.of);
}

std::string today_of(const core::NodeFacts* facts, const std::string& worker) {
  if (facts == nullptr) return "-";
  const auto found = facts->today.find(worker);
  const core::WorkerWork work = found == facts->today.end() ? core::WorkerWork{} : found->second;
  return fmt::format("{} / {} / {}", work.scheduled, work.succeeded, work.failed);
}

void show_shortages(http::Page& page, const core::NodeFacts* facts) {
  if (facts == nullptr) return;
  for (const core::PoolShortage& shortage : facts->shortages) {
    page.warning(shortage.words + ", since " + when(shortage.since));
  }
}

void show_workers(http::Page& page, const Snapshot& snapshot, const core::NodeFacts* facts) {
  Rows rows;
  for (const core::WorkerView& worker : snapshot.workers) {
    const auto& vitals = worker.vitals;
    if (worker.state == "dead") continue;
    rows.push_back({worker.info->key.id, worker.state, worker.info->pool,
                    fmt::format("{} of {}", worker.used_slots, worker.info->slots),
                    percent(vitals, &model::WorkerVitals::load_percent),
                    percent(vitals, &model::WorkerVitals::cpu_percent),
                    percent(vitals, &model::WorkerVitals::memory_percent),
                    vitals ? fmt::format("{} MiB", vitals->disk_free_bytes >> 20) : "-",
                    vitals ? std::to_string(vitals->threads) : "-", age_of(vitals, snapshot.taken),
                    heartbeat_of(worker, snapshot.taken), std::to_string(worker.info->weight),
                    share_of(worker), today_of(facts, worker.info->key.id),
                    core::remarks_on(worker, snapshot.taken)});
  }
  page.heading("Workers");
  page.table({"worker", "state", "pool", "running", "load", "cpu", "memory", "disk free",
              "threads", "figures' age", "heartbeat", "weight", "share",
              "today: scheduled / succeeded / failed", "why"}, rows,
             "No worker is here.");
}

void show_runs(http::Page& page, const Snapshot& snapshot) {
  Rows rows;
  for (const auto& [state, count] : snapshot.tallies.runs_by_state) {
    if (count > 0) rows.push_back({state, std::to_string(count)});
  }
  page.heading("Unfinished runs");
  page.table({"state", "runs"}, rows, "None.");
  rows.clear();
  for (const auto& [state, count] : snapshot.tallies.attempts_ended) {
    rows.push_back({state, std::to_string(count)});
  }
  page.heading("Attempts that ended since this leader took office");
  page.table({"how", "attempts"}, rows, "None.");
}

std::string lasted(const model::RunProgress& progress) {
  if (!progress.started || !progress.ended || *progress.ended < *progress.started) return "-";
  return fmt::format("{:.1f} s", static_cast<double>((*progress.ended - *progress.started).count()) / 1e3);
}

/// As stored, or as the leader knows it at this moment.
std::string why_of(const store::RunRow& row, const Snapshot* snapshot) {
  model::Reason reason = row.run.progress.reason;
  if (snapshot != nullptr && !model::is_final(row.run.progress.state)) {
    const auto now = snapshot->waiting.find(row.run.id);
    if (now != snapshot->waiting.end()) {
      reason = now->second.reason;
      const bool is_told = reason != model::Reason::None || !now->second.away_since;
      if (!is_told) return "its worker has not answered since " + core::second_text(*now->second.away_since);
    }
  }
  return std::string(reason == model::Reason::None ? "" : model::name_of(reason));
}

void show_newest_runs(http::Page& page, const PageRowsRead& read, const Snapshot* snapshot) {
  Rows rows;
  for (const store::RunRow& row : read.runs) {
    const model::RunProgress& progress = row.run.progress;
    rows.push_back({std::to_string(row.run.id.value), row.job_name,
                    std::string(model::name_of(progress.state)),
                    why_of(row, snapshot), when(row.run.scheduled), lasted(progress), progress.worker.id});
  }
  page.heading("Newest runs");
  page.table({"run", "job", "state", "why", "scheduled", "took", "worker"}, rows, "None.");
}

void show_jobs(http::Page& page, const PageRowsRead& read) {
  Rows rows;
  for (const store::JobRow& row : read.jobs) {
    const auto last = read.newest.find(row.job.id);
    const bool has_run = last != read.newest.end();
    rows.push_back({row.job.name, std::string(wire::name_of(row.job.state)),
                    has_run ? std::string(model::name_of(last->second.run.progress.state)) : "-",
                    has_run ? when(last->second.run.scheduled) : "-"});
  }
  page.heading("Jobs");
  page.table({"job", "state", "newest run", "scheduled"}, rows, "None is saved.");
  if (read.jobs.size() == static_cast<std::size_t>(kRowsOnPage)) page.line("`rota job list` shows the rest.");
}

/// The namespace is named by the lines of `rota`; this page shows "default".
void show_rows(http::Page& page, const PageFacts& facts) {
  if (facts.rows == nullptr) {
    return page.line("Runs and jobs are being read; this page shows them in a moment.");
  }
  if (!facts.rows->trouble.empty()) {
    return page.warning("Runs and jobs cannot be read: " + facts.rows->trouble);
  }
  show_newest_runs(page, *facts.rows, facts.snapshot.get());
  show_jobs(page, *facts.rows);
}

void show_gaps(http::Page& page, const Snapshot& snapshot) {
  Rows rows;
  for (const core::GapView& view : snapshot.newest_gaps) {
    std::string reason(model::name_of(view.gap.reason));
    if (view.gap.reference != 0) reason += fmt::format(" (run {})", view.gap.reference);
    rows.push_back({view.job, when(view.gap.from), when(view.gap.to),
                    std::to_string(view.gap.count), reason});
  }
  page.heading("Ticks that did not fire, newest first");
  page.table({"job", "from", "to", "ticks", "why"}, rows, "None since this leader took office.");
}

std::string page_url(const model::Address& page) {
  const bool is_six = page.host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}/", is_six ? "[" + page.host + "]" : page.host, page.port);
}

/// Where a follower's reader finds the rest, by what the last self check found.
void show_way_to_leader(http::Page& page, const PageFacts& facts) {
  const auto& masters = facts.check.masters;
  const auto leader = std::ranges::find_if(masters, &api::MasterView::leads);
  if (leader == masters.end() || leader->id == facts.id) {
    return page.line("Who leads is not known here at present; the leader's page shows more.");
  }
  if (leader->page.port == 0) {
    return page.line("The leader, " + leader->id + ", has told of no page (http.port) that would show more.");
  }
  const std::string url = page_url(leader->page);
  if (config::is_loopback(leader->page.host) && leader->address.host != facts.host) {
    return page.line("The leader's page shows more, and opens on its own host alone (http.host): on " +
                     leader->address.host + ", " + url);
  }
  page.link("The leader's page shows more:", url);
}

std::string status_of(const PageFacts& facts) {
  http::Page page("Rota, cluster " + facts.cluster, kRefreshSeconds);
  page.line(fmt::format("This is {} (version {}), {}.", facts.id, facts.version,
                        facts.leading ? fmt::format("leading with epoch {}", facts.leading->value)
                                      : std::string("a follower")));
  if (!facts.leading) show_way_to_leader(page, facts);
  const std::string why = why_nobody_leads(facts.office, facts.now);
  if (!why.empty()) page.warning(why);
  for (const auto& [part, word] : facts.check.words) {
    if (word != "ok" && (part != "office" || why.empty())) page.warning(part + ": " + word);
  }
  if (!facts.standstill.empty()) page.warning(facts.standstill);
  show_masters(page, facts);
  if (!facts.snapshot) {
    show_rows(page, facts);
    return page.text();
  }
  show_shortages(page, facts.nodes.get());
  show_workers(page, *facts.snapshot, facts.nodes.get());
  show_runs(page, *facts.snapshot);
  show_gaps(page, *facts.snapshot);
  show_rows(page, facts);
  page.line("As of " + when(facts.snapshot->taken) + ".");
  return page.text();
}

}  // namespace

http::Response page_of(const http::Request& request, const PageFacts& facts) {
  if (request.path == "/healthz") {
    if (!facts.standstill.empty()) return {503, facts.standstill + "\n"};
    return {200, facts.check.verdict + "\n"};
  }
  if (request.path == "/metrics") return {200, metrics_of(facts), MetricsPage::kContentType};
  if (request.path == "/") return {200, status_of(facts), "text/html; charset=utf-8"};
  return {404, "there are /, /metrics and /healthz\n"};
}

}  // namespace rota::master
