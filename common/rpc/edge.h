// The edge to Thrift: one object per connection, through which every method of a service runs. It
// makes the request's Caller, asks whether that may call the method, and lets nothing but RotaError
// leave it.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "common/rpc/caller_rules.h"

namespace rota::rpc {

/// Thread: any.
class Edge {
 public:
  /// `connection`: who every request over it comes from (caller_of_connection), unless a master
  /// passed it on.
  explicit Edge(Caller connection) : connection_(std::move(connection)) {}

  /// Runs body(caller). Throws RotaError alone: Denied without calling the body where the caller
  /// lacks the method's right, what the body throws, or Internal. What is refused is logged with
  /// the caller's address.
  template <typename Body>
  void serve(const char* method, Body body) const {
    run(method, connection_, body);
  }
  /// The same for a request that can be passed on: its `forwarded` says whether it was, its
  /// `caller` for whom.
  template <typename Request, typename Body>
  void serve(const char* method, const Request& request, Body body) const {
    const bool was_passed_on =
        request.__isset.forwarded && request.forwarded && request.__isset.caller;
    run(method, was_passed_on ? caller_of_forwarded(connection_, request.caller) : connection_,
        body);
  }

 private:
  template <typename Body>
  static void run(const char* method, const Caller& caller, Body& body) {
    try {
      admit(method, caller);
      body(caller);
    } catch (const thrift::RotaError& refusal) {
      log_refused(method, caller, refusal);
      throw;
    } catch (const std::exception& thrown) {
      throw unforeseen(method, caller, thrown);
    }
  }
  /// Throws RotaError.
  static void admit(const char* method, const Caller& caller);
  static void log_refused(const char* method, const Caller& caller,
                          const thrift::RotaError& refusal);
  static thrift::RotaError unforeseen(const char* method, const Caller& caller,
                                      const std::exception& thrown);

  const Caller connection_;
};

}  // namespace rota::rpc
