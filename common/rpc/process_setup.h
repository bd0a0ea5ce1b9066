// The first steps of every process that uses Thrift.
#pragma once

namespace rota::rpc {

/// A peer that goes away must be an error of one call, not the end of the process. Call it first in
/// main; a repeat is harmless. The warden restores the default for its children.
void ignore_sigpipe();

/// Sends the lines that the Thrift library would print to stderr to our log, channel "rpc". Servers
/// and connections do this by themselves; a repeat is harmless. Thread: any.
void redirect_thrift_output();

}  // namespace rota::rpc
