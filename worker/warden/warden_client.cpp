#include "worker/warden/warden_client.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "worker/warden/packet.h"

namespace rota::worker::warden {

namespace {

constexpr Millis kSendPatience{500};
constexpr std::size_t kMostPings = 64;
constexpr std::size_t kMostAtOnce = 256;

/// False when `events` did not come in time.
bool wait_for(int fd, short events, MonoTime deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<Millis>(deadline - BootClock::now());
    pollfd item{fd, events, 0};
    const int ready = ::poll(&item, 1, static_cast<int>(std::max(left, Millis{0}).count()));
    if (ready > 0) return true;
    if (left <= Millis{0} || (ready < 0 && errno != EINTR)) return false;
  }
}

}  // namespace

WardenClient::WardenClient(UniqueFd socket) : socket_(std::move(socket)) {}

Result<std::unique_ptr<WardenClient>> WardenClient::from_environment() {
  const char* text = ::getenv(kSocketVariable);
  if (text == nullptr) return fail(ErrorCode::NotFound, "not started by rota-warden");
  int fd = -1;
  const std::string_view digits(text);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), fd);
  if (error != std::errc{} || end != digits.data() + digits.size() || fd < 3 ||
      ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return fail(ErrorCode::InvalidArgument, "ROTA_WARDEN_FD names no descriptor: " + std::string(text));
  }
  ::unsetenv(kSocketVariable);
  return std::make_unique<WardenClient>(UniqueFd(fd));
}

Result<void> WardenClient::send(const Request& request) {
  const std::string bytes = encode(request);
  const MonoTime deadline = BootClock::now() + kSendPatience;
  for (;;) {
    Result<void> sent = send_packet(socket_.get(), bytes, {});
    if (sent || sent.error().code != ErrorCode::Overloaded) return sent;
    if (!wait_for(socket_.get(), POLLOUT, deadline)) return sent;
  }
}

Result<void> WardenClient::start(const Start& start) {
  if (start.argv.empty()) return fail(ErrorCode::InvalidArgument, "a start without a command");
  if (start.note.size() > kMaxNoteBytes) {
    return fail(ErrorCode::InvalidArgument, "a note longer than 4096 bytes");
  }
  return send(Request{start});
}

Result<void> WardenClient::kill(const AttemptKey& key, Millis grace, KilledBy by) {
  return send(Request{Kill{key, grace, by}});
}
Result<void> WardenClient::forget(const AttemptKey& key) { return send(Request{Forget{key}}); }
Result<void> WardenClient::vouch(MonoTime until) { return send(Request{Vouch{until}}); }
Result<void> WardenClient::list(std::uint64_t token) { return send(Request{List{token}}); }

Result<void> WardenClient::ping() {
  std::uint64_t token = 0;
  {
    std::scoped_lock lock(mutex_);
    token = ++last_ping_;
    if (unanswered_.size() < kMostPings) unanswered_.emplace_back(token, BootClock::now());
  }
  return send(Request{Ping{token}});
}

Result<std::vector<Notice>> WardenClient::receive(Millis timeout) {
  std::vector<Notice> out;
  if (!wait_for(socket_.get(), POLLIN, BootClock::now() + timeout)) return out;
  while (out.size() < kMostAtOnce) {
    Result<std::optional<Packet>> packet = receive_packet(socket_.get());
    if (!packet) {
      if (out.empty()) return fail(packet.error());
      return out;  // what came before is handed over first; a lost warden is told by the next call
    }
    if (!packet->has_value()) return out;
    Result<Notice> notice = decode_notice((*packet)->bytes, std::move((*packet)->fds));
    if (!notice) {
      if (out.empty()) return fail(notice.error());
      return out;
    }
    if (const auto* pong = std::get_if<Pong>(&*notice)) note_pong(pong->token);
    out.push_back(std::move(*notice));
  }
  return out;
}

void WardenClient::note_pong(std::uint64_t token) {
  std::scoped_lock lock(mutex_);
  while (!unanswered_.empty() && unanswered_.front().first <= token) unanswered_.pop_front();
}

bool WardenClient::is_answering(Millis within) const {
  std::scoped_lock lock(mutex_);
  return unanswered_.empty() || BootClock::now() - unanswered_.front().second <= within;
}

}  // namespace rota::worker::warden
