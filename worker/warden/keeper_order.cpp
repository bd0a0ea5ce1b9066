#include "worker/warden/keeper_order.h"

#include <poll.h>

#include <utility>

#include "worker/warden/packet.h"
#include "worker/warden/wire.h"

namespace rota::worker::warden {

namespace {

/// In the form in which the warden itself is told.
Start start_of(std::uint64_t serial, Millis disconnect_grace, const ProcessPlan& plan) {
  Start start;
  start.key.run.value = static_cast<std::int64_t>(serial);
  start.argv = plan.argv;
  start.environment = plan.environment;
  start.folder = plan.folder;
  start.umask = plan.umask;
  start.nice = plan.nice;
  start.limits = plan.limits;
  start.disconnect_grace = disconnect_grace;
  start.progress = plan.extra_fd >= 0;
  start.user = plan.user;
  return start;
}

std::optional<KeeperOrder> order_of(Packet packet) {
  Result<Request> request = decode_request(packet.bytes);
  Start* const start = request ? std::get_if<Start>(&*request) : nullptr;
  if (start == nullptr || start->argv.empty()) return std::nullopt;
  if (packet.fds.size() != (start->progress ? 4u : 3u)) return std::nullopt;
  KeeperOrder order;
  order.serial = static_cast<std::uint64_t>(start->key.run.value);
  order.disconnect_grace = start->disconnect_grace;
  order.descriptors = std::move(packet.fds);
  ProcessPlan& plan = order.plan;
  plan.argv = std::move(start->argv);
  plan.environment = std::move(start->environment);
  plan.folder = std::move(start->folder);
  plan.umask = start->umask;
  plan.nice = start->nice;
  plan.limits = std::move(start->limits);
  plan.user = std::move(start->user);
  plan.own_ipc = true;
  plan.stdin_fd = order.descriptors[0].get();
  plan.stdout_fd = order.descriptors[1].get();
  plan.stderr_fd = order.descriptors[2].get();
  if (start->progress) plan.extra_fd = order.descriptors[3].get();
  return order;
}

}  // namespace

Result<void> send_order(int socket, std::uint64_t serial, Millis disconnect_grace, const ProcessPlan& plan) {
  std::vector<int> descriptors{plan.stdin_fd, plan.stdout_fd, plan.stderr_fd};
  if (plan.extra_fd >= 0) descriptors.push_back(plan.extra_fd);
  return send_packet(socket, encode(Request{start_of(serial, disconnect_grace, plan)}), descriptors);
}

std::optional<KeeperOrder> await_order(int socket) {
  for (;;) {
    pollfd item{socket, POLLIN, 0};
    ::poll(&item, 1, -1);
    Result<std::optional<Packet>> packet = receive_packet(socket);
    if (!packet) return std::nullopt;
    if (packet->has_value()) return order_of(std::move(**packet));
  }
}

}  // namespace rota::worker::warden
