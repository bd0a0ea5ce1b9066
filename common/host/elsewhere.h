// Whether a server runs on another host, as far as its address shows. Then its clock can confirm ours.
#pragma once

#include <string>

namespace rota::host {

/// True when every address of this name belongs to another host: neither loopback nor one of our interfaces.
/// False when the name cannot be resolved. A server in a container of this host has an address of its own,
/// so it counts as another host.
/// Thread: any; blocks as long as the system's resolver does.
bool is_elsewhere(const std::string& name);

}  // namespace rota::host
