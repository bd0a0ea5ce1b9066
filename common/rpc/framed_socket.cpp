#include "common/rpc/framed_socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/rpc/channel.h"
#include "common/rpc/process_setup.h"
#include "common/rpc/server.h"
#include "common/rpc/socket_open.h"

namespace rota::rpc {

using apache::thrift::TApplicationException;
using apache::thrift::transport::TTransportException;

namespace {

constexpr std::size_t kHeader = 4;

[[noreturn]] void fail_with(TTransportException::TTransportExceptionType type,
                            const std::string& text) {
  throw TTransportException(type, text);
}

}  // namespace

FramedSocket::FramedSocket(Endpoint endpoint)
    : endpoint_(std::move(endpoint)), out_(kHeader, '\0') {
  redirect_thrift_output();
}

void FramedSocket::begin_call(MonoTime deadline) {
  deadline_ = deadline;
  sent_ = false;
  refused_ = false;
  out_.resize(kHeader);
  in_.clear();
  taken_ = 0;
  if (fd_.is_open() && peer_has_closed()) close();
}

bool FramedSocket::peer_has_closed() const {
  char byte = 0;
  const auto got = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  // Nothing to read is the good case; the end of the stream, an error or an unexpected byte is not.
  return !(got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

void FramedSocket::open() {
  Opened opened = open_socket(endpoint_, deadline_);
  refused_ = opened.refused;
  if (!opened.fd.is_open()) fail_with(TTransportException::NOT_OPEN, opened.trouble);
  fd_ = std::move(opened.fd);
}

void FramedSocket::close() { fd_.reset(); }

void FramedSocket::wait_for(short events, const char* doing) {
  if (!poll_until(fd_.get(), events, deadline_)) {
    fail_with(TTransportException::TIMED_OUT, fmt::format("deadline passed while {}", doing));
  }
}

void FramedSocket::write(const std::uint8_t* bytes, std::uint32_t length) {
  if (out_.size() + length > kMaxFrameBytes + kHeader) {
    fail_with(TTransportException::BAD_ARGS,
              fmt::format("the request is larger than {} MiB", kMaxFrameBytes >> 20));
  }
  out_.append(reinterpret_cast<const char*>(bytes), length);
}

void FramedSocket::flush() {
  const auto size = static_cast<std::uint32_t>(out_.size() - kHeader);
  for (std::size_t i = 0; i < kHeader; ++i) {
    out_[i] = static_cast<char>(static_cast<unsigned char>(size >> (8 * (kHeader - 1 - i))));
  }
  send_all(out_);
  sent_ = true;
  out_.resize(kHeader);
}

void FramedSocket::send_all(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto put = ::send(fd_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (put > 0) {
      done += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for(POLLOUT, "sending");
    } else if (errno != EINTR) {
      // The peer never acts on an incomplete frame, so this counts as not sent.
      fail_with(TTransportException::NOT_OPEN,
                "sending: " + std::generic_category().message(errno));
    }
  }
}

void FramedSocket::read_exactly(char* into, std::size_t length) {
  while (length > 0) {
    const auto got = ::recv(fd_.get(), into, length, 0);
    if (got > 0) {
      into += got;
      length -= static_cast<std::size_t>(got);
    } else if (got == 0) {
      fail_with(TTransportException::END_OF_FILE, "the peer closed the connection");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for(POLLIN, "waiting for the answer");
    } else if (errno != EINTR) {
      fail_with(TTransportException::END_OF_FILE,
                "receiving: " + std::generic_category().message(errno));
    }
  }
}

void FramedSocket::read_frame() {
  unsigned char header[kHeader] = {};
  read_exactly(reinterpret_cast<char*>(header), kHeader);
  std::size_t size = 0;
  for (const unsigned char byte : header) size = (size << 8) | byte;
  if (size > kMaxFrameBytes) {
    fail_with(TTransportException::CORRUPTED_DATA, "the answer is no frame of at most 4 MiB");
  }
  in_.resize(size);
  taken_ = 0;
  read_exactly(in_.data(), size);
}

std::uint32_t FramedSocket::read(std::uint8_t* buffer, std::uint32_t length) {
  if (taken_ == in_.size()) read_frame();
  const auto part = static_cast<std::uint32_t>(std::min<std::size_t>(length, in_.size() - taken_));
  std::memcpy(buffer, in_.data() + taken_, part);
  taken_ += part;
  return part;
}

const std::uint8_t* FramedSocket::borrow(std::uint8_t*, std::uint32_t* length) {
  if (in_.size() - taken_ < *length) return nullptr;
  *length = static_cast<std::uint32_t>(in_.size() - taken_);
  return reinterpret_cast<const std::uint8_t*>(in_.data()) + taken_;
}

void FramedSocket::consume(std::uint32_t length) {
  taken_ = std::min(in_.size(), taken_ + length);
}

namespace {

CallError application_error(const TApplicationException& thrown, const std::string& peer) {
  CallError out;
  const bool unknown_method = thrown.getType() == TApplicationException::UNKNOWN_METHOD;
  out.error = Error(unknown_method ? ErrorCode::Unsupported : ErrorCode::UnknownOutcome,
                    fmt::format("{} answered: {}", peer, thrown.what()));
  return out;
}

CallError connection_error(const FramedSocket& socket, const std::string& peer,
                           const std::string& text) {
  CallError out;
  const bool sent = socket.was_sent();
  out.error = Error(sent ? ErrorCode::UnknownOutcome : ErrorCode::Unavailable,
                    sent ? fmt::format("no answer from {} ({}); it may or may not have been done",
                                       peer, text)
                         : fmt::format("{} is not reachable: {}", peer, text));
  out.refused = socket.was_refused();
  return out;
}

}  // namespace

CallError error_in_flight(const FramedSocket& socket, const Endpoint& peer) {
  const std::string name = to_string(peer);
  try {
    throw;
  } catch (const thrift::RotaError& thrown) {
    return from_wire(thrown);
  } catch (const TApplicationException& thrown) {
    return application_error(thrown, name);
  } catch (const TTransportException& thrown) {
    if (thrown.getType() == TTransportException::BAD_ARGS && !socket.was_sent()) {
      CallError out;
      out.error = Error(ErrorCode::InvalidArgument, thrown.what());
      return out;
    }
    return connection_error(socket, name, thrown.what());
  } catch (const std::exception& thrown) {
    return connection_error(socket, name, thrown.what());
  }
}

}  // namespace rota::rpc
