#include "master/api/node_words.h"

#include <algorithm>

#include "common/rpc/endpoint.h"
#include "common/wire/worker_wire.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::api {
namespace {

thrift::WorkerHold hold_told(const model::WorkerHold& hold) {
  thrift::WorkerHold out;
  out.__set_kind(std::string(name_of(hold.kind)));
  out.__set_why(hold.why);
  out.__set_since_ms(to_ms(hold.since));
  out.__set_until_ms(to_ms(hold.until));
  out.__set_strikes(hold.strikes);
  if (hold.trial) out.__set_trial_ms(to_ms(*hold.trial));
  return out;
}

thrift::WorkerDay day_told(const core::NodeFacts& facts, const std::string& worker) {
  const auto found = facts.today.find(worker);
  const core::WorkerWork work = found == facts.today.end() ? core::WorkerWork{} : found->second;
  thrift::WorkerDay out;
  out.__set_scheduled(work.scheduled);
  out.__set_succeeded(work.succeeded);
  out.__set_failed(work.failed);
  out.__set_since_ms(to_ms(facts.day));
  return out;
}

}  // namespace

std::int64_t age_ms(WallTime now, WallTime then) {
  return std::max<std::int64_t>(0, (now - then).count());
}

thrift::WorkerInfo worker_told(const core::WorkerView& view, const core::NodeFacts* facts, WallTime now) {
  model::WorkerInfo info = *view.info;
  info.vitals = view.vitals;
  thrift::WorkerInfo out = wire::to_wire(info);
  out.__set_running(view.running);
  out.__set_used_slots(view.used_slots);
  if (!view.used.empty()) out.__set_used(view.used);
  out.__set_state(view.state);
  out.__set_why(view.why);
  out.__set_dispatched_total(view.dispatched_total);
  if (view.drain) out.__set_drain(wire::to_wire(*view.drain));
  out.__set_remarks(core::remarks_on(view, now));
  if (view.left) out.__set_left_ms(to_ms(*view.left));
  if (view.silent_since) out.__set_silent_since_ms(to_ms(*view.silent_since));
  if (view.vitals) out.__set_vitals_age_ms(age_ms(now, view.vitals->sampled));
  if (view.state == "warning" && !view.warning.empty()) out.__set_warning(view.warning);
  if (view.hold) out.__set_hold(hold_told(*view.hold));
  if (view.clock_offset) out.__set_clock_offset_ms(view.clock_offset->count());
  if (view.heard) out.__set_heartbeat_age_ms(age_ms(now, *view.heard));
  out.__set_share_given(view.share.given);
  out.__set_share_of(view.share.of);
  if (facts != nullptr) out.__set_today(day_told(*facts, view.info->key.id));
  return out;
}

thrift::Usage usage_told(const model::AttemptUsage& usage, WallTime now) {
  thrift::Usage out;
  out.__set_cpu_us(usage.cpu_us);
  out.__set_memory_bytes(usage.memory_bytes);
  out.__set_processes(usage.processes);
  out.__set_age_ms(age_ms(now, usage.sampled));
  if (usage.cpu_percent) out.__set_cpu_percent(*usage.cpu_percent);
  return out;
}

thrift::NodeMinute minute_told(const model::WorkerMinute& minute) {
  thrift::NodeMinute out;
  out.__set_minute_ms(to_ms(minute.minute));
  out.__set_state(minute.state);
  if (minute.samples > 0) {
    out.__set_cpu_percent(minute.cpu_percent);
    out.__set_memory_percent(minute.memory_percent);
    out.__set_load_percent(minute.load_percent);
    out.__set_cpu_most_percent(minute.cpu_most_percent);
    out.__set_disk_free_bytes(minute.disk_free_bytes);
    out.__set_threads(minute.threads);
  }
  out.__set_slots(minute.slots);
  out.__set_running(minute.running_hundredths / 100.0);
  out.__set_scheduled(minute.scheduled);
  out.__set_succeeded(minute.succeeded);
  out.__set_failed(minute.failed);
  return out;
}

thrift::PoolCapacity capacity_told(const core::PoolCapacity& capacity,
                                   const std::vector<core::PoolShortage>& shortages) {
  thrift::PoolCapacity out;
  out.__set_pool(capacity.pool);
  out.__set_workers(capacity.workers);
  out.__set_slots(capacity.slots);
  out.__set_used(capacity.used);
  out.__set_used_most(capacity.used_most);
  out.__set_free_percent(capacity.free_percent);
  out.__set_below_reserve(capacity.is_short);
  const auto shortage = std::ranges::find(shortages, capacity.pool, &core::PoolShortage::pool);
  if (shortage != shortages.end()) out.__set_short_since_ms(to_ms(shortage->since));
  out.__set_minutes(capacity.minutes);
  out.__set_newest_ms(to_ms(capacity.newest));
  if (capacity.growth_per_day) out.__set_growth_per_day(*capacity.growth_per_day);
  if (capacity.reserve_ends) out.__set_reserve_ends_ms(to_ms(*capacity.reserve_ends));
  if (capacity.slots_end) out.__set_slots_end_ms(to_ms(*capacity.slots_end));
  return out;
}

thrift::MasterNode master_told(const MasterView& view) {
  thrift::MasterNode out;
  out.__set_id(view.id);
  out.__set_address(rpc::to_string(rpc::Endpoint{view.address.host, view.address.port}));
  out.__set_leads(view.leads);
  out.__set_state(view.leads ? "leader" : "follower");
  out.__set_why(view.health == "ok" ? "" : view.health);
  out.__set_elector(view.elector);
  out.__set_database(view.database);
  if (view.page.port != 0) {
    out.__set_page(rpc::to_string(rpc::Endpoint{view.page.host, view.page.port}));
  }
  return out;
}

void add_figures(thrift::MasterNode& node, const MasterFigures& figures, MonoTime now) {
  node.__set_version(figures.version);
  node.__set_started_ms(to_ms(figures.started));
  node.__set_cpu_percent(figures.cpu_percent);
  node.__set_memory_percent(figures.memory_percent);
  node.__set_disk_free_bytes(figures.disk_free_bytes);
  node.__set_threads(figures.threads);
  node.__set_resident_bytes(figures.resident_bytes);
  node.__set_figures_age_ms(std::max<std::int64_t>(0, floor_ms(now - figures.sampled).count()));
}

void add_answer(thrift::MasterNode& node, const std::vector<thrift::MasterNode>& answer, Millis took) {
  const auto itself = std::ranges::find(answer, node.id, &thrift::MasterNode::id);
  if (itself == answer.end()) return add_silence(node, "another master answers at its address");
  const auto& has = itself->__isset;
  if (has.version) node.__set_version(itself->version);
  if (has.started_ms) node.__set_started_ms(itself->started_ms);
  if (has.cpu_percent) node.__set_cpu_percent(std::clamp(itself->cpu_percent, 0, 100));
  if (has.memory_percent) node.__set_memory_percent(std::clamp(itself->memory_percent, 0, 100));
  if (has.disk_free_bytes) node.__set_disk_free_bytes(std::max<std::int64_t>(itself->disk_free_bytes, 0));
  if (has.threads) node.__set_threads(std::max(itself->threads, 0));
  if (has.resident_bytes) node.__set_resident_bytes(std::max<std::int64_t>(itself->resident_bytes, 0));
  if (has.figures_age_ms) node.__set_figures_age_ms(itself->figures_age_ms + took.count());
  node.__set_answered_in_ms(took.count());
}

void add_silence(thrift::MasterNode& node, const std::string& why) {
  node.__set_state("silent");
  node.__set_why(why + (node.why.empty() ? "" : "; " + node.why));
}

}  // namespace rota::master::api
