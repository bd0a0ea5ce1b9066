#include "master/store/mysql/semaphore_rows.h"

#include "master/store/mysql/multi_row.h"

namespace rota::master::store {
namespace {

const MultiRow kInsertSemaphores{
    "INSERT INTO semaphore (namespace, name, version, tokens, changed_ms, change_number, principal, "
    "deleted) VALUES",
    8,
    "ON DUPLICATE KEY UPDATE version = VALUES(version)"};

}  // namespace

void write_semaphores(BatchText& batch, const std::vector<model::SemaphoreRow>& rows) {
  batch.add_rows(kInsertSemaphores, {rows.size(), [&](Binder& binder, std::size_t i) {
                                       const model::SemaphoreRow& row = rows[i];
                                       binder.text(row.space)
                                           .text(row.name)
                                           .integer(row.version)
                                           .integer(row.count)
                                           .time(row.changed)
                                           .integer(row.number)
                                           .text(row.principal)
                                           .integer(row.deleted ? 1 : 0);
                                     }});
}

Result<model::SemaphoreRow> read_semaphore(Row& row) {
  model::SemaphoreRow out;
  out.space = row.text();
  out.name = row.text();
  out.version = static_cast<std::int32_t>(row.integer());
  out.count = static_cast<std::int32_t>(row.integer());
  out.changed = row.time();
  out.number = row.integer();
  out.principal = row.text();
  out.deleted = row.integer() != 0;
  return out;
}

}  // namespace rota::master::store
