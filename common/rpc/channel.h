// A connection to one service that always has a deadline. It connects on demand and makes one call at
// a time. For a failed call it says whether it was certainly not done (Unavailable) or may have been
// (UnknownOutcome).
//
//   rpc::Channel<thrift::WorkerServiceClient> worker(endpoint);
//   auto answer = worker.call([&](auto& client) {
//     thrift::Inventory inventory;
//     client.hello(inventory, request);
//     return inventory;
//   }, Millis{2000});
#pragma once

#include <thrift/TApplicationException.h>
#include <thrift/transport/TTransportException.h>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "common/base/time.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/error_wire.h"
#include "common/rpc/framed_socket.h"
#include "common/rpc/text_protocol.h"

namespace rota::rpc {

/// Turns the exception that Thrift threw into an error; the only place that knows its exceptions.
/// Rethrows the exception in flight: call it only in a catch block.
CallError error_in_flight(const FramedSocket& socket, const Endpoint& peer);

/// One connection and its client. Thread: one call at a time (ChannelPool is for many threads).
template <typename Client>
class Channel {
 public:
  explicit Channel(Endpoint peer)
      : peer_(std::move(peer)),
        socket_(std::make_shared<FramedSocket>(peer_)),
        client_(std::make_shared<TextProtocol>(socket_)) {}

  /// Calls `use(client)` and returns its result. `timeout` covers connecting, sending and the answer
  /// together. Errors: Unavailable (certainly not done; `refused` says more), UnknownOutcome (sent,
  /// but no answer came), or the error of the peer's handler. After an error that the peer did not
  /// send, the connection is dropped and the next call makes a new one.
  template <typename Use>
  auto call(Use&& use, Millis timeout) -> CallResult<std::invoke_result_t<Use, Client&>> {
    try {
      socket_->begin_call(BootClock::now() + timeout);
      if (!socket_->isOpen()) socket_->open();
      if constexpr (std::is_void_v<std::invoke_result_t<Use, Client&>>) {
        std::forward<Use>(use)(client_);
        return {};
      } else {
        return std::forward<Use>(use)(client_);
      }
    } catch (...) {
      CallError error = error_in_flight(*socket_, peer_);
      if (!error.answered) socket_->close();
      return tl::unexpected<CallError>(std::move(error));
    }
  }

  const Endpoint& peer() const { return peer_; }
  bool is_open() const { return socket_->isOpen(); }
  void close() { socket_->close(); }

 private:
  const Endpoint peer_;
  const std::shared_ptr<FramedSocket> socket_;  // shared: the protocol wants to own it too
  Client client_;
};

}  // namespace rota::rpc
