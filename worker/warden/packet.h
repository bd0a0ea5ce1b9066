// One packet over the socket pair, with descriptors beside it. Bodies beyond kMaxInlineBytes travel
// in a memory file. Thread: any (each call is one system call on the socket).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace rota::worker::warden {

struct Packet {
  std::string bytes;
  std::vector<UniqueFd> fds;
};

/// A connected pair (SOCK_SEQPACKET, close-on-exec, non-blocking).
Result<std::pair<UniqueFd, UniqueFd>> packet_pair();

/// Sends without waiting. Overloaded: the socket is full, surely not sent. Unavailable: the other
/// side is gone. InvalidArgument: longer than kMaxMessageBytes.
Result<void> send_packet(int socket, std::string_view bytes, std::span<const int> fds);

/// The next packet without waiting; nothing when none is there. Unavailable: the other side is gone.
/// Corrupt: a packet was dropped because it was cut short or its memory file cannot be read.
Result<std::optional<Packet>> receive_packet(int socket);

}  // namespace rota::worker::warden
