// The simulator's database and a real one, for scripts with faults.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "master/store/mysql/mysql_options.h"
#include "test/contract/agreement/store_script.h"
#include "test/sim/sim_office.h"
#include "test/sim/sim_store.h"
#include "test/support/cutting_proxy.h"

namespace rota::agreement {

/// How an answer was lost: the simulator's random numbers decide it, the real connection is cut accordingly.
enum class Loss { None, OfCheck, BeforeCommit, AfterCommit };

/// Thread: one.
class SimStoreSide {
 public:
  SimStoreSide();
  /// The result of the step, and how its answer was lost.
  std::string play(const StoreStep& step, Loss& loss);
  std::string look(const StoreStep& step);
  /// Whether the step restored an older copy: not when nothing would be lost by it.
  bool has_gone_back() const { return has_gone_back_; }

  sim::SimStore& store() { return store_; }
  sim::SimOffice& office() { return office_; }
  /// Advances virtual time.
  void pass(Millis time);

 private:
  Loss loss_since(std::int64_t checks, std::int64_t before, std::int64_t after) const;

  sim::Random dice_{1};
  sim::Marks marks_;
  sim::Clockwork clockwork_;
  sim::SimStore store_{dice_, marks_, clockwork_};
  sim::SimOffice office_{store_, dice_, marks_, clockwork_};
  bool has_gone_back_ = false;
};

/// A MariaDB with a separate leader for each epoch, like in production. Thread: one.
class RealStoreSide {
 public:
  RealStoreSide();
  std::string play(const StoreStep& step, Loss loss);
  std::string look(const StoreStep& step) { return agreement::look(faces_, step); }
  /// Replaces the present rows by the copy's; all connections are cut.
  void go_back();

  master::store::Store& leader(Epoch epoch);
  master::store::Office& office() { return *faces_.office; }
  rota::testing::CuttingProxy& proxy() { return *proxy_; }

 private:
  void back_up();
  void sql(const std::string& text) const;
  bool end_connections() const;
  void lose(Loss loss, Epoch epoch);
  void lose_connection(Epoch epoch);

  master::store::MysqlOptions options_;
  master::store::MysqlOptions through_proxy_;
  std::unique_ptr<rota::testing::CuttingProxy> proxy_;
  master::store::testing::Backend faces_;
  std::map<Epoch, std::unique_ptr<master::store::Store>> leaders_;
  std::vector<std::string> tables_;
  std::string copy_;   ///< the database with the copy
};

}  // namespace rota::agreement
