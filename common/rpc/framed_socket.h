// The client's transport: framed messages over a non-blocking socket in which every wait has the
// deadline of the present call. It knows whether a request was certainly not sent.
#pragma once

#include <thrift/transport/TVirtualTransport.h>

#include <cstdint>
#include <string>

#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "common/rpc/endpoint.h"

namespace rota::rpc {

/// One connection. Thread: one at a time. Throws TTransportException, as Thrift expects; channel.h
/// turns that into results.
class FramedSocket final : public apache::thrift::transport::TVirtualTransport<FramedSocket> {
 public:
  explicit FramedSocket(Endpoint endpoint);

  /// Begins a call: sets its deadline and resets was_sent() to false. Drops a connection that the peer
  /// has closed meanwhile, so that this does not look like a lost answer.
  void begin_call(MonoTime deadline);
  /// The whole request has been handed to the kernel: the peer may act on it.
  bool was_sent() const { return sent_; }
  /// The last open() was refused: no process listens there.
  bool was_refused() const { return refused_; }

  // Thrift's transport
  bool isOpen() const override { return fd_.is_open(); }
  bool peek() override { return isOpen(); }
  void open() override;
  void close() override;
  std::uint32_t read(std::uint8_t* buffer, std::uint32_t length);
  void write(const std::uint8_t* bytes, std::uint32_t length);
  void flush() override;
  const std::uint8_t* borrow(std::uint8_t* buffer, std::uint32_t* length);
  void consume(std::uint32_t length);

 private:
  void wait_for(short events, const char* doing);
  void send_all(const std::string& bytes);
  void read_exactly(char* into, std::size_t length);
  void read_frame();
  bool peer_has_closed() const;

  const Endpoint endpoint_;
  UniqueFd fd_;
  MonoTime deadline_{};
  bool sent_ = false;
  bool refused_ = false;
  std::string out_;  ///< the request, after four bytes for its length
  std::string in_;   ///< the answer's frame
  std::size_t taken_ = 0;
};

}  // namespace rota::rpc
