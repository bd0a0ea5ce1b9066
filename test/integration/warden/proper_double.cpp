// Stands in for the worker proper: hands its end of the warden's socket to the test that listens at
// the path given, then waits. Ends with 0 on SIGTERM, with the status named on SIGUSR1.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

bool hand_over(const char* path, int descriptor) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
  char byte = 'w';
  iovec part{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return ::sendmsg(socket, &message, 0) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  const char* descriptor = std::getenv("ROTA_WARDEN_FD");
  if (descriptor == nullptr || !hand_over(argv[1], std::atoi(descriptor))) return 1;
  for (;;) {
    const int number = ::sigwaitinfo(&all, nullptr);
    if (number == SIGTERM) return 0;
    if (number == SIGUSR1) return argc > 2 ? std::atoi(argv[2]) : 1;
  }
}
