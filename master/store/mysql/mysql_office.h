// Taking office on MySQL, and reading what a new Term starts from.
#pragma once

#include <memory>
#include <string>

#include "master/store/mysql/content_cache.h"
#include "master/store/mysql/contents.h"
#include "master/store/mysql/kept_runs.h"
#include "master/store/mysql/mysql_options.h"
#include "master/store/store.h"
#include "master/store/zone_source.h"

namespace rota::master::store {

class Connection;

/// Holds one connection, opened when needed and again after any error. Thread: one at a time.
class MysqlOffice final : public Office {
 public:
  /// `zones` resolves the time zones of the jobs that recover() loads.
  MysqlOffice(MysqlOptions options, ZoneSource zones);
  ~MysqlOffice() override;

  Result<Marks> read_marks() override;
  Result<std::string> settle_uuid(const std::string& proposed) override;
  Result<Millis> settle_grant(Millis own) override;

  /// Waits at most 1 s for an older leader's open transaction; then that leader's connection is
  /// killed (it is named in loop_connection), so a frozen leader delays this by little more than 1 s.
  Result<void> claim(const Claim& claim) override;
  Result<void> settle_zookeeper(Epoch epoch, const KnownZookeeper& zookeeper) override;
  Result<void> beat(Epoch epoch) override;
  Result<void> need_contents(Epoch epoch) override;
  Result<void> need_late_rows(Epoch epoch) override;
  Result<void> need_worker_starts(Epoch epoch) override;
  Result<void> need_child_runs(Epoch epoch) override;
  Result<std::int64_t> count_held() override;
  bool read_ahead(MonoTime now) override;

  /// Unsupported when this machine does not know the time zone of some job: another master may.
  Result<core::Recovered> recover() override;
  Result<std::vector<model::Gap>> gaps_beyond(WallTime moment) override;
  Result<void> rewind(const Rewind& rewind) override;
  Result<void> probe() override;

 private:
  Result<Connection*> connection();
  Result<void> claim_once(const Claim& claim, bool& has_lost);
  Result<void> try_office(Connection& connection, const Claim& claim);
  Result<void> kill_older_loops(Epoch epoch);
  Result<void> fill_contents(Epoch epoch);
  Result<void> beat_once(Connection& connection, Epoch epoch);

  const MysqlOptions options_;
  const ZoneSource zones_;
  std::unique_ptr<Connection> connection_;
  Epoch claimed_;                      ///< by the last claim, if it stands
  UnsuccessfulFill fill_;
  ContentFill contents_;
  ContentCache ahead_;
  std::unique_ptr<Connection> ahead_connection_;
  MonoTime read_ahead_at_{};           ///< not before
};

}  // namespace rota::master::store
