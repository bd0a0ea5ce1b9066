#include "test/contract/agreement/zk_backs.h"

#include <thread>

#include "common/zk/real_client.h"

namespace rota::agreement {

namespace {
constexpr Millis kBetweenLooks{50};
}

// --- real

RealZkBack::RealZkBack(testing::ZookeeperServer& server) {
  for (int way = 0; way < kZkWays; ++way) relays_.push_back(std::make_unique<testing::TcpProxy>(server.port()));
}

zk::ClientFactory RealZkBack::factory(int) { return zk::make_real_client; }

std::string RealZkBack::address(int way) const { return "127.0.0.1:" + std::to_string(relay(way).port()); }

void RealZkBack::pass(Millis, int) { std::this_thread::sleep_for(kBetweenLooks); }

// --- simulated

zk::ClientFactory SimZkBack::factory(int way) {
  return [this, way](const zk::ClientOptions& options, zk::EventHandler handler) {
    return connect(way, options, std::move(handler));
  };
}

Result<std::unique_ptr<zk::Client>> SimZkBack::connect(int way, const zk::ClientOptions& options,
                                                       zk::EventHandler handler) {
  const auto server = static_cast<std::size_t>(way);
  zk::SessionId session = options.attach ? options.attach->id : 0;
  if (!options.attach) {
    session = zookeeper_.begin_session(server, options.session_timeout, now_, handler);
    holders_[way] = {session, handler};
  }
  const auto what = zookeeper_.is_alive(session) ? zk::Event::What::Connected : zk::Event::What::Expired;
  handler({what, session, {}, {}});
  return std::unique_ptr<zk::Client>(
      std::make_unique<sim::SimZkClient>(zookeeper_, session, server, dice_, marks_));
}

void SimZkBack::tell(int way, zk::Event::What what) const {
  const Holder& holder = holders_.at(way);
  holder.handler({what, holder.session, {}, {}});
}

void SimZkBack::cut(int way) {
  zookeeper_.lag(static_cast<std::size_t>(way));
  tell(way, zk::Event::What::Suspended);
}

void SimZkBack::mend(int way) {
  const zk::SessionId session = holders_.at(way).session;
  zookeeper_.move(session, kZkWays);
  zookeeper_.mend(static_cast<std::size_t>(way));
  zookeeper_.move(session, static_cast<std::size_t>(way));
  tell(way, zookeeper_.is_alive(session) ? zk::Event::What::Connected : zk::Event::What::Expired);
}

void SimZkBack::pass(Millis timeout, int way) {
  now_ += timeout;
  for (const auto& [other, holder] : holders_) {
    if (other != way) zookeeper_.touch(holder.session, now_);
  }
  zookeeper_.expire(now_);
}

}  // namespace rota::agreement
