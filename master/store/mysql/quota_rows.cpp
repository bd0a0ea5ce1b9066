#include "master/store/mysql/quota_rows.h"

#include "master/store/mysql/multi_row.h"

namespace rota::master::store {
namespace {

const MultiRow kInsertQuotas{
    "INSERT INTO quota (side, name, version, slots, weight, jobs, unfinished, firings, changed_ms, "
    "change_number, principal, attempt_timeout_ms, run_timeout_ms, queue_timeout_ms, "
    "min_workers, max_workers, hook) VALUES",
    17,
    "ON DUPLICATE KEY UPDATE version = VALUES(version)"};

}  // namespace

void write_quotas(BatchText& batch, const std::vector<model::QuotaRow>& rows) {
  const auto bind = [&rows](Binder& binder, std::size_t i) {
    const model::QuotaRow& row = rows[i];
    binder.text(name_of(row.of)).text(row.name).integer(row.version);
    binder.integer(row.quota.slots).integer(row.quota.weight).integer(row.quota.jobs);
    binder.integer(row.quota.unfinished).integer(row.quota.firings);
    binder.time(row.changed).integer(row.number).text(row.principal);
    binder.integer(row.quota.timeout.count()).integer(row.quota.run_timeout.count());
    binder.integer(row.quota.queue_timeout.count());
    binder.integer(row.quota.min_workers).integer(row.quota.max_workers).text(row.quota.hook);
  };
  batch.add_rows(kInsertQuotas, {rows.size(), bind});
}

Result<model::QuotaRow> read_quota(Row& row) {
  model::QuotaRow out;
  out.of = row.text() == name_of(model::QuotaOf::Pool) ? model::QuotaOf::Pool : model::QuotaOf::Space;
  out.name = row.text();
  out.version = static_cast<std::int32_t>(row.integer());
  out.quota.slots = row.integer();
  out.quota.weight = row.integer();
  out.quota.jobs = row.integer();
  out.quota.unfinished = row.integer();
  out.quota.firings = row.integer();
  out.changed = row.time();
  out.number = row.integer();
  out.principal = row.text();
  out.quota.timeout = Millis{row.integer()};
  out.quota.run_timeout = Millis{row.integer()};
  out.quota.queue_timeout = Millis{row.integer()};
  out.quota.min_workers = row.integer();
  out.quota.max_workers = row.integer();
  out.quota.hook = row.text();
  return out;
}

}  // namespace rota::master::store
