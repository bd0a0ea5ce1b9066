// Who leads the cluster under test, and how it is made to change.
#pragma once

#include "test/bench/surroundings.h"

namespace rota::bench {

struct Leader {
  std::string name;  ///< "master-1"
  int pid = 0;
  std::int64_t epoch = 0;
};

/// Who has taken office by the database's word. NotFound: nobody, or no master of this cluster.
Result<Leader> find_leader(const Surroundings& where, master::store::Connection& connection);

/// The process of a master that does not lead.
Result<int> find_follower(const Surroundings& where, const Leader& leader);

/// kill -9, and waits for the next one's epoch: it may not be done with taking office.
Result<Leader> kill_leader(const Surroundings& where, master::store::Connection& connection,
                           const Leader& leader);

/// Waits until a killed master stands as a candidate again, so that it can take over from the next
/// one.
Result<void> await_return(const Surroundings& where, const Leader& killed);

/// All of it, until a new process leads and answers.
Result<Leader> change_leader(const Surroundings& where, master::store::Connection& connection);

}  // namespace rota::bench
