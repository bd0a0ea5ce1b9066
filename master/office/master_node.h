// What a master says of itself in its node in ZooKeeper, and what the others read there. Pure.
#pragma once

#include <string>

#include "master/api/leader_port.h"

namespace rota::master {

/// JSON. The view's `leads` is not told: who leads stands elsewhere.
std::string node_text(const api::MasterView& master);

/// Empty fields for what is missing or no such thing: a master of another version, or damage.
api::MasterView master_in(const std::string& node);

/// Where the pages of a master are reached that listens on `listens` for them: an address for all
/// interfaces is none to go to. Empty when there are no pages.
model::Address page_address(const model::Address& listens, const std::string& advertised_host);

}  // namespace rota::master
