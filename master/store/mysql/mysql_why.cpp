// Questions behind `why`: each reads a few rows by a key, however much history there is.
#include <fmt/format.h>

#include "master/store/mysql/connection.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/rows_of.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {

Result<std::vector<model::Gap>> MysqlReader::gaps_before(JobId job, JobVersion version, WallTime at,
                                                         std::int32_t limit) {
  return rows_of<model::Gap>(
      pool_,
      fmt::format("SELECT {} FROM gap WHERE job_id = ? AND job_version = ? AND from_ms <= ? "
                  "ORDER BY from_ms DESC LIMIT {}",
                  kGapColumns, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(job.value).integer(version).time(at); }, read_gap);
}

Result<std::vector<TermRow>> MysqlReader::terms_through(Epoch epoch, std::int32_t limit) {
  return rows_of<TermRow>(
      pool_,
      fmt::format("SELECT epoch, holder, address, taken_ms FROM term WHERE epoch <= ? "
                  "ORDER BY epoch DESC LIMIT {}",
                  rows_asked(limit)),
      [&](Binder& binder) { binder.integer(epoch.value); },
      [](Row& row) -> Result<TermRow> {
        TermRow term;
        term.epoch = Epoch{row.integer()};
        term.holder = row.text();
        term.address = row.text();
        term.taken = row.time();
        return term;
      });
}

}  // namespace rota::master::store
