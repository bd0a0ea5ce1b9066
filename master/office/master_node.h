// What a master says about itself in its node in ZooKeeper, and what the others read there. Pure.
#pragma once

#include <string>

#include "master/api/leader_port.h"

namespace rota::master {

/// JSON. The view's `leads` is left out: another node says who leads.
std::string node_text(const api::MasterView& master, const std::string& elector = "zookeeper");

/// The elector that the master of this node is configured for. Empty: it is of a version that knows only one.
std::string elector_in(const std::string& node);

/// Fields that are missing or malformed stay empty: a master of another version, or damage.
api::MasterView master_in(const std::string& node);

/// Where the pages of a master are reached that listens on `listens` for them: an address for all
/// interfaces is none to go to. Empty when there are no pages.
model::Address page_address(const model::Address& listens, const std::string& advertised_host);

}  // namespace rota::master
