#include "common/rpc/server.h"

#include <fmt/format.h>
#include <thrift/TProcessor.h>
#include <thrift/server/TNonblockingServer.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "common/base/log.h"
#include "common/rpc/connection_watch.h"
#include "common/rpc/process_setup.h"
#include "common/rpc/server_threads.h"
#include "common/rpc/text_protocol.h"

namespace rota::rpc {
namespace {

namespace server = apache::thrift::server;

constexpr Millis kSweepEvery{200};

/// Reports when the server's I/O threads exist: it can be stopped only after that.
class ServeBegan final : public server::TServerEventHandler {
 public:
  explicit ServeBegan(std::function<void()> began) : began_(std::move(began)) {}
  void preServe() override { began_(); }

 private:
  std::function<void()> began_;
};

/// Thrift asks it once for each connection.
class ConnectionProcessors final : public apache::thrift::TProcessorFactory {
 public:
  explicit ConnectionProcessors(ProcessorOf make) : make_(std::move(make)) {}
  std::shared_ptr<apache::thrift::TProcessor> getProcessor(
      const apache::thrift::TConnectionInfo& connection) override {
    const auto socket = std::dynamic_pointer_cast<WatchedSocket>(connection.transport);
    const std::string peer = socket ? socket->peer() : "";
    return answer_refused_texts(make_(peer), peer);
  }

 private:
  const ProcessorOf make_;
};

}  // namespace

class Server::Impl {
 public:
  Impl(ProcessorOf processor_of, ServerOptions options)
      : options_(std::move(options)),
        processors_(std::make_shared<ConnectionProcessors>(std::move(processor_of))),
        watch_(std::make_shared<ConnectionWatch>(
            WatchLimits{options_.idle_timeout, options_.message_timeout,
                        static_cast<std::size_t>(options_.max_connections)})) {
    redirect_thrift_output();
  }
  ~Impl() { stop(); }

  Result<void> start() {
    std::scoped_lock lock(life_);
    if (thrift_) return {};
    if (stopped_) return fail(ErrorCode::Unavailable, "the server was stopped");
    try {
      make();
    } catch (const std::exception& thrown) {
      thrift_.reset();
      if (pool_) pool_->stop();
      return fail(ErrorCode::Unavailable, fmt::format("cannot listen on {}:{}: {}", options_.host,
                                                      options_.port, thrown.what()));
    }
    port_.store(static_cast<std::uint16_t>(listener_->getListenPort()));
    serving_ = std::thread([this] { serve(); });
    sweeping_ = std::jthread([this](const std::stop_token& stop) { sweep(stop); });
    wait_until_began();
    log_info("rpc", "listening",
             {{"name", options_.name}, {"host", options_.host}, {"port", port_.load()}});
    return {};
  }

  void stop() {
    std::scoped_lock lock(life_);
    stopped_ = true;
    if (!thrift_) return;
    stop_serving();
    pool_->stop();
    sweeping_.request_stop();
    sweeping_.join();
    thrift_.reset();
    listener_.reset();
    pool_.reset();
  }

  std::uint16_t port() const { return port_.load(); }
  std::size_t connections() const { return watch_->open(); }

 private:
  void make() {
    listener_ = std::make_shared<WatchedListener>(options_.host, options_.port, watch_);
    pool_ = std::make_shared<ServerThreads>(static_cast<std::size_t>(options_.threads));
    pool_->start();
    const auto limit = static_cast<std::int32_t>(options_.max_frame_bytes);
    auto protocols = text_protocols({limit, kMaxContainerItems});
    thrift_ = std::make_unique<server::TNonblockingServer>(processors_, protocols, listener_, pool_);
    thrift_->setMaxFrameSize(options_.max_frame_bytes);
    thrift_->setMaxConnections(static_cast<std::size_t>(options_.max_connections));
    thrift_->setOverloadAction(server::T_OVERLOAD_CLOSE_ON_ACCEPT);
    thrift_->setOverloadHysteresis(1.0);
    thrift_->setConnectionStackLimit(64);
    thrift_->setResizeBufferEveryN(16);
    thrift_->setServerEventHandler(std::make_shared<ServeBegan>([this] { mark(began_); }));
    thrift_->createAndListenOnSocket();
  }

  void serve() {
    try {
      thrift_->serve();
    } catch (const std::exception& thrown) {
      log_error("rpc", "the server ended", {{"name", options_.name}, {"why", thrown.what()}});
    }
    mark(began_);
    mark(ended_);
  }

  void sweep(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any woken;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      woken.wait_for(lock, stop, kSweepEvery, [] { return false; });
      const std::size_t cut = watch_->sweep(BootClock::now());
      if (cut > 0) {
        log_info("rpc", "closed idle or stalled connections",
                 {{"name", options_.name}, {"count", cut}});
      }
    }
  }

  void wait_until_began() {
    std::unique_lock lock(phase_);
    changed_.wait(lock, [this] { return began_; });
  }

  // A stop is lost while the I/O loop is still being set up, so it is repeated.
  void stop_serving() {
    std::unique_lock lock(phase_);
    while (!ended_) {
      lock.unlock();
      thrift_->stop();
      lock.lock();
      changed_.wait_for(lock, Millis{20}, [this] { return ended_; });
    }
    lock.unlock();
    serving_.join();
  }

  void mark(bool& flag) {
    {
      std::scoped_lock lock(phase_);
      flag = true;
    }
    changed_.notify_all();
  }

  const ServerOptions options_;
  const std::shared_ptr<apache::thrift::TProcessorFactory> processors_;
  const std::shared_ptr<ConnectionWatch> watch_;
  std::mutex life_;
  bool stopped_ = false;
  std::shared_ptr<WatchedListener> listener_;
  std::shared_ptr<ServerThreads> pool_;
  std::unique_ptr<server::TNonblockingServer> thrift_;
  std::atomic<std::uint16_t> port_{0};
  std::thread serving_;
  std::jthread sweeping_;
  std::mutex phase_;
  std::condition_variable changed_;
  bool began_ = false;
  bool ended_ = false;
};

Server::Server(ProcessorOf processor_of, ServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(processor_of), std::move(options))) {}
Server::Server(std::shared_ptr<apache::thrift::TProcessor> processor, ServerOptions options)
    : Server(ProcessorOf([processor](const std::string&) { return processor; }), std::move(options)) {}
Server::~Server() = default;
Result<void> Server::start() { return impl_->start(); }
void Server::stop() { impl_->stop(); }
std::uint16_t Server::port() const { return impl_->port(); }
std::size_t Server::connections() const { return impl_->connections(); }

}  // namespace rota::rpc
