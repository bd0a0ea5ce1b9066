// The elector that a master's configuration asks for.
#pragma once

#include <memory>
#include <string>

#include "common/config/options.h"
#include "common/zk/paths.h"
#include "common/zk/session.h"
#include "master/cluster/elector.h"

namespace rota::master {

/// The session, the clock and the observer outlive it.
struct ElectorParts {
  zk::Session& session;
  const zk::Paths& paths;
  const Clock& clock;
  cluster::ElectorObserver& observer;
  std::string database_password;
};

/// It acts at once, but is no candidate yet.
std::unique_ptr<cluster::Elector> make_elector(const config::MasterOptions& options,
                                               const ElectorParts& parts);

}  // namespace rota::master
