// What every process that speaks Thrift does first.
#pragma once

namespace rota::rpc {

/// A peer that goes away must be an error of one call, not the end of the process. First thing in
/// main; harmless when repeated. The warden gives its children the default again.
void ignore_sigpipe();

/// Sends what the Thrift library prints (to stderr, by itself) to our log, channel "rpc". Servers
/// and connections do this by themselves; harmless when repeated. Thread: any.
void redirect_thrift_output();

}  // namespace rota::rpc
