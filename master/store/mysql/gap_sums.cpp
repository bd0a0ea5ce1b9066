// Ticks that did not fire, summed up over the saved jobs of a namespace.
#include <fmt/format.h>

#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/rows_of.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

Result<GapSum> read_sum(Row& row) {
  GapSum sum;
  sum.job = row.text();
  const std::string reason = row.text();
  const auto known = model::reason_named(reason);
  if (!known) return fail(ErrorCode::Internal, "table gap has an unknown reason " + quoted_text(reason));
  sum.reason = *known;
  sum.reference = row.integer();
  sum.ticks = row.integer();
  sum.from = row.time();
  sum.to = row.time();
  return sum;
}

}  // namespace

Result<std::vector<GapSum>> MysqlReader::sum_gaps(const GapQuery& query) {
  const std::string_view reference = query.by_reference ? "g.reference" : "0";
  const std::string sql = fmt::format(
      "SELECT j.saved_name, g.reason, {0} AS refers_to, CAST(SUM(g.tick_count) AS SIGNED) AS ticks, "
      "MIN(g.from_ms), MAX(g.to_ms) AS newest FROM gap g JOIN job j ON j.job_id = g.job_id "
      "WHERE g.to_ms >= ? AND g.reason IN ({1}) AND j.namespace = ? AND j.saved_name IS NOT NULL "
      "GROUP BY g.job_id, j.saved_name, g.reason{2} HAVING ticks >= ? "
      "ORDER BY newest DESC, g.job_id LIMIT {3}",
      reference, marks(query.reasons.size()), query.by_reference ? ", g.reference" : "",
      rows_asked(query.limit));
  return rows_of<GapSum>(
      pool_, sql,
      [&](Binder& binder) {
        binder.time(query.since);
        for (const model::Reason reason : query.reasons) binder.text(model::name_of(reason));
        binder.text(query.space).integer(query.least_ticks);
      },
      read_sum);
}

}  // namespace rota::master::store
