#include "master/store/mysql/job_rows.h"

#include <fmt/format.h>

#include "common/wire/definition_json.h"
#include "common/wire/job_names.h"
#include "master/core/definition_hash.h"

namespace rota::master::store {
namespace {

constexpr std::size_t kWhyBytes = 1000;
constexpr std::size_t kByBytes = 255;

}  // namespace

bool holds_its_name(const model::Job& job) {
  return !job.one_off && job.state != model::JobState::Deleted;
}

// When job_name_once meets another job's row, job_id differs and every assignment keeps what is there.
const MultiRow kUpsertJobs{
    "INSERT INTO job (job_id, namespace, name, saved_name, version, state, one_off, state_by, "
    "state_why, created_ms, changed_ms, ticks_through_ms, fired_ticks, failures_in_row, "
    "due_after_end_ms, over_since_ms) VALUES",
    16,
    "ON DUPLICATE KEY UPDATE "
    "namespace = IF(job_id = VALUES(job_id), VALUES(namespace), namespace), "
    "name = IF(job_id = VALUES(job_id), VALUES(name), name), "
    "saved_name = IF(job_id = VALUES(job_id), VALUES(saved_name), saved_name), "
    "version = IF(job_id = VALUES(job_id), VALUES(version), version), "
    "state = IF(job_id = VALUES(job_id), VALUES(state), state), "
    "one_off = IF(job_id = VALUES(job_id), VALUES(one_off), one_off), "
    "state_by = IF(job_id = VALUES(job_id), VALUES(state_by), state_by), "
    "state_why = IF(job_id = VALUES(job_id), VALUES(state_why), state_why), "
    "created_ms = IF(job_id = VALUES(job_id), VALUES(created_ms), created_ms), "
    "changed_ms = IF(job_id = VALUES(job_id), VALUES(changed_ms), changed_ms), "
    "ticks_through_ms = IF(job_id = VALUES(job_id), VALUES(ticks_through_ms), ticks_through_ms), "
    "fired_ticks = IF(job_id = VALUES(job_id), VALUES(fired_ticks), fired_ticks), "
    "failures_in_row = IF(job_id = VALUES(job_id), VALUES(failures_in_row), failures_in_row), "
    "due_after_end_ms = IF(job_id = VALUES(job_id), VALUES(due_after_end_ms), due_after_end_ms), "
    "over_since_ms = IF(job_id = VALUES(job_id), VALUES(over_since_ms), over_since_ms)"};

void bind_job(Binder& binder, const model::Job& job) {
  binder.integer(job.id.value).text(job.space).text(job.name);
  holds_its_name(job) ? binder.text(job.name) : binder.null();
  binder.integer(job.version)
      .text(wire::name_of(job.state))
      .integer(job.one_off ? 1 : 0)
      .prose(job.state_by, kByBytes)
      .prose(job.state_why, kWhyBytes)
      .time(job.created)
      .time(job.changed)
      .time(job.ticks_through)
      .integer(job.memory.fired)
      .integer(job.memory.failures)
      .time(job.memory.due)
      .time(job.memory.over_since);
}

const MultiRow kUpsertVersions{
    "INSERT INTO job_version (job_id, version, valid_from_ms, valid_to_ms, anchor_ms, enabled, "
    "principal, definition_hash, rules, definition, content_hash) VALUES",
    11, "ON DUPLICATE KEY UPDATE valid_to_ms = VALUES(valid_to_ms)"};

void bind_version(Binder& binder, const model::JobVersionRow& version, const ContentTexts& texts) {
  const bool is_shared = !texts.hash.empty();
  binder.integer(version.job.value)
      .integer(version.version)
      .time(version.valid_from)
      .time(version.valid_to)
      .time(version.anchor)
      .integer(version.enabled ? 1 : 0)
      .text(version.principal)
      .integer(static_cast<std::int64_t>(core::definition_hash(*version.definition)))
      .text(is_shared ? "" : texts.rules)
      .text(is_shared ? "" : texts.definition)
      .text_or_null(texts.hash);
}

const std::string kCloseOrCarryVersion =
    "INSERT INTO job_version (job_id, version, valid_from_ms, valid_to_ms, anchor_ms, enabled, "
    "principal, definition_hash, rules, definition, content_hash) "
    "SELECT v.job_id, ?, ?, ?, ?, ?, ?, v.definition_hash, v.rules, v.definition, v.content_hash "
    "FROM job_version v "
    "WHERE v.job_id = ? AND v.version <= ? ORDER BY v.version DESC LIMIT 1 "
    "ON DUPLICATE KEY UPDATE valid_to_ms = ?";

void bind_close_or_carry(Binder& binder, const model::JobVersionRow& version) {
  binder.integer(version.version)
      .time(version.valid_from)
      .time(version.valid_to)
      .time(version.anchor)
      .integer(version.enabled ? 1 : 0)
      .text(version.principal)
      .integer(version.job.value)
      .integer(version.version)
      .time(version.valid_to);
}

const MultiRow kUpsertLives{
    "INSERT INTO worker_life (worker_id, incarnation, host, port, pool, joined_ms, left_ms, why_left, "
    "seen_in, forgotten, slots, offers) VALUES",
    12,
    "ON DUPLICATE KEY UPDATE host = VALUES(host), port = VALUES(port), pool = VALUES(pool), "
    "joined_ms = VALUES(joined_ms), left_ms = VALUES(left_ms), why_left = VALUES(why_left), "
    "seen_in = VALUES(seen_in), forgotten = VALUES(forgotten), slots = VALUES(slots), "
    "offers = VALUES(offers)"};

void bind_life(Binder& binder, const core::WorkerLife& life) {
  binder.text(life.key.id)
      .text(life.key.incarnation)
      .text(life.address.host)
      .integer(life.address.port)
      .text(life.pool)
      .time(life.joined)
      .time(life.left)
      .prose(life.why_left, kWhyBytes)
      .integer(life.seen_in)
      .integer(life.forgotten ? 1 : 0);
  life.slots ? binder.integer(*life.slots) : binder.null();
  life.offers ? binder.text(wire::amounts_to_json(*life.offers)) : binder.null();
}

const MultiRow kUpsertDeaths = {
    "INSERT INTO worker_death (worker_id, incarnation, principal, why, epoch, confirmed_ms, came_back_ms) "
    "VALUES", 7,
    "ON DUPLICATE KEY UPDATE principal = VALUES(principal), why = VALUES(why), epoch = VALUES(epoch), "
    "confirmed_ms = VALUES(confirmed_ms), came_back_ms = VALUES(came_back_ms)"};

void bind_death(Binder& binder, const model::WorkerDeath& death) {
  binder.text(death.life.id)
      .text(death.life.incarnation)
      .text(death.principal)
      .prose(death.why, kWhyBytes)
      .integer(death.epoch.value)
      .time(death.confirmed)
      .time(death.came_back);
}

model::WorkerDeath read_death(Row& row) {
  model::WorkerDeath death;
  death.life.id = row.text();
  death.life.incarnation = row.text();
  death.principal = row.text();
  death.why = row.text();
  death.epoch = Epoch{row.integer()};
  death.confirmed = row.time();
  death.came_back = row.maybe_time();
  return death;
}

const MultiRow kUpsertFreezes = {
    "INSERT INTO freeze (freeze_id, namespace, from_ms, until_ms, ended_ms, principal, why, thawed_job, "
    "done) VALUES", 9,
    "ON DUPLICATE KEY UPDATE until_ms = VALUES(until_ms), ended_ms = VALUES(ended_ms), "
    "principal = VALUES(principal), why = VALUES(why), thawed_job = VALUES(thawed_job), "
    "done = VALUES(done)"};

void bind_freeze(Binder& binder, const model::Freeze& freeze) {
  binder.integer(freeze.id)
      .text(freeze.space)
      .time(freeze.from)
      .time(freeze.until)
      .time(freeze.ended)
      .text(freeze.principal)
      .prose(freeze.why, kWhyBytes)
      .integer(freeze.thawed.value)
      .integer(freeze.done ? 1 : 0);
}

model::Freeze read_freeze(Row& row) {
  model::Freeze freeze;
  freeze.id = row.integer();
  freeze.space = row.text();
  freeze.from = row.time();
  freeze.until = row.time();
  freeze.ended = row.maybe_time();
  freeze.principal = row.text();
  freeze.why = row.text();
  freeze.thawed = JobId{row.integer()};
  freeze.done = row.integer() != 0;
  return freeze;
}

const MultiRow kInsertStarts = {
    "INSERT INTO worker_start (worker_id, start_id, home, pool, accepted_ms, start_number) VALUES", 6,
    "ON DUPLICATE KEY UPDATE start_number = start_number"};

void bind_start(Binder& binder, const model::WorkerStart& start) {
  binder.text(start.key.worker)
      .text(start.key.start)
      .text(start.home)
      .text(start.pool)
      .time(start.accepted)
      .integer(start.number);
}

model::WorkerStart read_start(Row& row) {
  model::WorkerStart start;
  start.key.worker = row.text();
  start.key.start = row.text();
  start.home = row.text();
  start.pool = row.text();
  start.accepted = row.time();
  start.number = row.integer();
  return start;
}

const MultiRow kUpsertDrains = {
    "INSERT INTO worker_drain (worker_id, draining, deadline_ms, principal, why, changed_ms) VALUES", 6,
    "ON DUPLICATE KEY UPDATE draining = VALUES(draining), deadline_ms = VALUES(deadline_ms), "
    "principal = VALUES(principal), why = VALUES(why), changed_ms = VALUES(changed_ms)"};

void bind_drain(Binder& binder, const model::WorkerDrain& drain) {
  binder.text(drain.worker)
      .integer(drain.draining ? 1 : 0)
      .time(drain.deadline)
      .text(drain.principal)
      .prose(drain.why, kWhyBytes)
      .time(drain.changed);
}

Result<model::Job> read_job(Row& row) {
  model::Job job;
  job.id = JobId{row.integer()};
  job.space = row.text();
  job.name = row.text();
  job.version = static_cast<JobVersion>(row.integer());
  const std::string state = row.text();
  const auto named = wire::named<model::JobState>(state);
  if (!named) return fail(ErrorCode::Corrupt, "the store holds the unknown job state '" + state + "'");
  job.state = *named;
  job.one_off = row.integer() != 0;
  job.state_by = row.text();
  job.state_why = row.text();
  job.created = row.time();
  job.changed = row.time();
  job.ticks_through = row.maybe_time();
  job.memory.fired = static_cast<std::int32_t>(row.integer());
  job.memory.failures = static_cast<std::int32_t>(row.integer());
  job.memory.due = row.maybe_time();
  job.memory.over_since = row.maybe_time();
  return job;
}

Result<model::JobVersionRow> read_version(Row& row) {
  model::JobVersionRow version;
  version.job = JobId{row.integer()};
  version.version = static_cast<JobVersion>(row.integer());
  version.valid_from = row.time();
  version.valid_to = row.maybe_time();
  version.anchor = row.time();
  version.enabled = row.integer() != 0;
  version.principal = row.text();
  const std::string space = row.text();
  const std::string name = row.text();
  const auto text = row.maybe_text();
  if (!text) {
    return fail(ErrorCode::Corrupt,
                fmt::format("version {} of job {} ('{}'): its row of `definition` is missing",
                            version.version, version.job.value, name));
  }
  auto definition = wire::definition_from_json(*text);
  if (!definition) return fail(definition.error());
  definition->space = space;
  definition->name = name;
  version.definition = std::make_shared<const model::JobDefinition>(std::move(*definition));
  return version;
}

core::WorkerLife read_life(Row& row) {
  core::WorkerLife life;
  life.key.id = row.text();
  life.key.incarnation = row.text();
  life.address.host = row.text();
  life.address.port = static_cast<std::uint16_t>(row.integer());
  life.pool = row.text();
  life.joined = row.time();
  life.left = row.maybe_time();
  life.why_left = row.text();
  life.seen_in = row.integer();
  life.forgotten = row.integer() != 0;
  if (const auto slots = row.maybe_integer()) life.slots = static_cast<std::int32_t>(*slots);
  if (const auto offers = row.maybe_text()) life.offers = wire::amounts_from_json(*offers);
  return life;
}

std::optional<core::Watermark> read_watermark(Row& row) {
  const auto through = row.maybe_time();
  const auto reaching = row.maybe_time();
  const JobId job{row.maybe_integer().value_or(0)};
  if (!through) return std::nullopt;
  return core::Watermark(*through, reaching.value_or(*through), job);
}

model::WorkerDrain read_drain(Row& row) {
  model::WorkerDrain drain;
  drain.worker = row.text();
  drain.draining = row.integer() != 0;
  drain.deadline = row.maybe_time();
  drain.principal = row.text();
  drain.why = row.text();
  drain.changed = row.time();
  return drain;
}

}  // namespace rota::master::store
