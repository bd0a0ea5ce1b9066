// Whether a server runs on another host, as far as its address tells: so that its clock can bear witness.
#pragma once

#include <string>

namespace rota::host {

/// Every address of this name is another host's: neither loopback nor one of our interfaces'. False when
/// the name can not be resolved. A server in a container of this host has an address of its own, and is not
/// told apart.
/// Thread: any; blocks as long as the system's resolver does.
bool is_elsewhere(const std::string& name);

}  // namespace rota::host
