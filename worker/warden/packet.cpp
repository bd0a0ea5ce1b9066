#include "worker/warden/packet.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "worker/warden/wire.h"

namespace rota::worker::warden {

namespace {

constexpr std::size_t kMostDescriptors = 8;
// First byte of every packet: where the body is.
constexpr char kInline = 0, kInMemoryFile = 1;

Error system_error(ErrorCode code, const char* what) {
  return Error(code, std::string(what) + ": " + std::strerror(errno));
}

Result<UniqueFd> memory_file_with(std::string_view bytes) {
  UniqueFd file(::memfd_create("rota-message", MFD_CLOEXEC));
  if (!file.is_open()) return fail(system_error(ErrorCode::Unavailable, "memfd_create"));
  while (!bytes.empty()) {
    const ssize_t done = ::write(file.get(), bytes.data(), bytes.size());
    if (done <= 0) return fail(system_error(ErrorCode::Unavailable, "write to a memory file"));
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return file;
}

Result<std::string> content_of(int file) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return fail(system_error(ErrorCode::Corrupt, "fstat"));
  if (info.st_size < 0 || static_cast<std::size_t>(info.st_size) > kMaxMessageBytes) {
    return fail(ErrorCode::Corrupt, "a memory file longer than a message may be");
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t part =
        ::pread(file, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (part <= 0) return fail(ErrorCode::Corrupt, "a memory file that shrinks while it is read");
    got += static_cast<std::size_t>(part);
  }
  return bytes;
}

void attach(msghdr& message, std::span<char> room, std::span<const int> fds) {
  if (fds.empty()) return;
  message.msg_control = room.data();
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
}

std::vector<UniqueFd> detach(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

Result<void> send_raw(int socket, char where, std::string_view body, std::span<const int> fds) {
  iovec parts[2] = {{&where, 1}, {const_cast<char*>(body.data()), body.size()}};
  alignas(cmsghdr) char room[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  attach(message, room, fds);
  ssize_t done = 0;
  do {
    done = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (done < 0 && errno == EINTR);
  if (done >= 0) return {};
  if (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS) {
    return fail(ErrorCode::Overloaded, "the socket between worker and warden is full");
  }
  return fail(system_error(ErrorCode::Unavailable, "send between worker and warden"));
}

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> packet_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return fail(system_error(ErrorCode::Unavailable, "socketpair"));
  }
  return std::pair{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<void> send_packet(int socket, std::string_view bytes, std::span<const int> fds) {
  if (bytes.size() > kMaxMessageBytes || fds.size() >= kMostDescriptors) {
    return fail(ErrorCode::InvalidArgument, "a message of " + std::to_string(bytes.size()) +
                                                " bytes is longer than " +
                                                std::to_string(kMaxMessageBytes));
  }
  if (bytes.size() <= kMaxInlineBytes) return send_raw(socket, kInline, bytes, fds);
  Result<UniqueFd> file = memory_file_with(bytes);
  if (!file) return fail(file.error());
  std::vector<int> all{file->get()};
  all.insert(all.end(), fds.begin(), fds.end());
  return send_raw(socket, kInMemoryFile, {}, all);
}

Result<std::optional<Packet>> receive_packet(int socket) {
  thread_local std::string buffer(kMaxInlineBytes + 1, '\0');
  alignas(cmsghdr) char room[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  ssize_t got = 0;
  // Linux tells ECONNRESET once, when the other side closed with packets of ours unread. What it sent
  // before it closed stands behind that error and is received by the next call.
  bool was_reset = false;
  do {
    got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(was_reset, true))));
  if (got < 0 && errno == EAGAIN) return std::optional<Packet>{};
  if (got < 0) return fail(system_error(ErrorCode::Unavailable, "receive"));
  if (got == 0) return fail(ErrorCode::Unavailable, "the other side of the socket is gone");
  Packet packet{{}, detach(message)};
  if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) return fail(ErrorCode::Corrupt, "cut short");
  if (buffer[0] == kInline) {
    packet.bytes.assign(buffer.data() + 1, static_cast<std::size_t>(got) - 1);
    return std::optional<Packet>(std::move(packet));
  }
  if (buffer[0] != kInMemoryFile || packet.fds.empty()) return fail(ErrorCode::Corrupt, "no body");
  Result<std::string> content = content_of(packet.fds.front().get());
  if (!content) return fail(content.error());
  packet.bytes = std::move(*content);
  packet.fds.erase(packet.fds.begin());
  return std::optional<Packet>(std::move(packet));
}

}  // namespace rota::worker::warden
