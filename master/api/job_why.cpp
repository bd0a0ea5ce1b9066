// Adds the checks, who decided, and the place in line to what is said of a run or a moment.
#include <algorithm>

#include "master/api/edge.h"
#include "master/api/job_service.h"
#include "master/api/why_facts.h"
#include "master/core/time/hold_rules.h"

namespace rota::master::api {
namespace {

Millis grace_at(store::Reader& reader, JobId job, JobVersion version) {
  const auto definition = reader.definition_of(job, version);
  return definition && *definition ? (*definition)->rules.tick_grace : model::JobRules{}.tick_grace;
}

}  // namespace

void JobServiceHandler::put_run_checks(thrift::Explanation& out, const store::RunRow& row,
                                       const model::JobDefinition* definition, const core::RunView* view) {
  const auto snapshot = parts_.leader.snapshot();
  const RunWhyFacts facts =
      run_facts(row, definition, view, snapshot.get(), out.sentence, parts_.clock.wall());
  out.__set_checks(to_wire(checks_of_run(facts)));
  if (facts.place) out.__set_place(to_wire(*facts.place));
}

/// What is before the run: its moment. What the leader said of the run stays behind it.
void JobServiceHandler::put_moment_checks(thrift::Explanation& out, const store::RunRow& row) {
  const DecidedBy by = decided_by(parts_.reader, epoch_of(row.run.id));
  out.__set_decision(to_wire(by, row.run.recorded));
  if (!row.run.tick || store::is_of_one_off(row.run)) return;
  const auto job = parts_.reader.get_job(row.run.space, row.job_name);
  if (!job || job->job.id != row.run.job) return;  // it was deleted
  const TickFacts tick = tick_facts(*job, *row.run.tick);
  MomentFacts moment{row.run.space, row.job_name, by, {}, true,
                     grace_at(parts_.reader, row.run.job, row.run.version)};
  out.__set_checks(to_wire(joined(checks_of_moment(tick, moment), from_wire(out.checks))));
}

MomentFacts JobServiceHandler::moment_facts(const store::JobRow& row, const TickFacts& tick) {
  MomentFacts facts;
  facts.space = row.job.space;
  facts.job_name = row.job.name;
  const JobVersion version = tick.run ? tick.run->version : tick.gap ? tick.gap->version : row.job.version;
  facts.grace = version == row.version.version ? row.version.definition->rules.tick_grace
                                               : grace_at(parts_.reader, row.job.id, version);
  if (tick.run) facts.by = decided_by(parts_.reader, epoch_of(tick.run->id));
  if (!tick.run && tick.gap) facts.by = decided_by(parts_.reader, tick.gap->epoch);
  const auto snapshot = parts_.leader.snapshot();
  facts.is_hold_known = snapshot != nullptr;
  if (snapshot) facts.hold = core::hold_text(*snapshot, parts_.clock.wall());
  return facts;
}

/// Whether ticks are held is known by the leader alone.
bool JobServiceHandler::tell_by_leader(const Caller& caller, thrift::TickAnswer& out, const Head& head,
                                       const std::string& space, const std::string& name,
                                       std::int64_t at_ms) {
  constexpr Millis kHop{1500};
  auto asked = ask_leader(caller, head, std::min(deadline_of(head), BootClock::now() + kHop),
                          [&](auto& client, const Head& onward) {
                            thrift::TickAnswer answer;
                            client.explain_tick(answer, onward, space, name, at_ms);
                            return answer;
                          });
  if (asked) out = std::move(*asked);
  return asked.has_value();
}

void JobServiceHandler::put_tick_checks(const Caller& caller, thrift::TickAnswer& out, const Head& head,
                                        const store::JobRow& row, const TickFacts& tick) {
  const MomentFacts facts = moment_facts(row, tick);
  std::vector<Check> checks = checks_of_moment(tick, facts);
  if (facts.by) {
    const auto at = tick.run ? std::optional(tick.run->recorded) : std::nullopt;
    out.__set_decision(to_wire(*facts.by, at));
  }
  if (tick.run) {
    thrift::Explanation of_run;
    explain_row(caller, of_run, head, {*tick.run, row.job.name});
    checks = joined(std::move(checks), from_wire(of_run.checks));
    if (of_run.__isset.place) out.__set_place(of_run.place);
  }
  out.__set_checks(to_wire(checks));
}

}  // namespace rota::master::api
