#include "master/store/mysql/connection_pool.h"

#include <chrono>

#include "master/store/mysql/connection.h"
#include "master/store/mysql/mysql_errors.h"

namespace rota::master::store {

namespace {

constexpr int kTriesToCommit = 5;

/// Another node was faster with the same rows: what was written through it is committed, this is not.
bool has_lost_certification(const Connection& connection) {
  return connection.certifies() && connection.last_sql_error() == kDeadlock;
}

}  // namespace

ConnectionPool::ConnectionPool(MysqlOptions options, PoolOptions pool)
    : options_(std::move(options)), pool_(pool) {}
ConnectionPool::~ConnectionPool() = default;

Result<void> ConnectionPool::with(const std::function<Result<void>(Connection&)>& work) {
  if (std::string silence = pool_.silence(); !silence.empty()) {
    return fail(ErrorCode::Unavailable, std::move(silence));
  }
  int lost = 0;
  for (bool only_fresh = false;;) {
    auto lease = take(only_fresh);
    if (!lease) return fail(lease.error());
    const bool fresh = lease->fresh;
    auto done = work(*lease->connection);
    const bool dead = !lease->connection->usable();
    const bool has_lost = !done && has_lost_certification(*lease->connection);
    give_back(std::move(*lease));
    if (has_lost && ++lost < kTriesToCommit) continue;
    if (done || fresh || !dead || done.error().code != ErrorCode::Unavailable) return done;
    // A kept connection was dead: its siblings are probably dead too. Once more with a new one.
    drop_idle();
    only_fresh = true;
  }
}

Result<ConnectionPool::Lease> ConnectionPool::take(bool only_fresh) {
  {
    std::unique_lock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + pool_.wait;
    if (!freed_.wait_until(lock, deadline, [&] { return out_ < pool_.connections; })) {
      return fail(ErrorCode::TimedOut, "no database connection became free in time");
    }
    ++out_;
    std::erase_if(idle_, [](const auto& kept) { return !kept->usable(); });
    if (!only_fresh && !idle_.empty()) {
      Lease lease{std::move(idle_.back()), false};
      idle_.pop_back();
      return lease;
    }
    if (BootClock::now() < failure_until_) {
      --out_;
      return fail(last_failure_);
    }
  }
  return open_new();
}

/// Called with a place in the pool already taken.
Result<ConnectionPool::Lease> ConnectionPool::open_new() {
  auto opened = Connection::open(options_);
  const std::scoped_lock lock(mutex_);
  if (!opened) {
    --out_;
    last_failure_ = opened.error();
    failure_until_ = BootClock::now() + pool_.remember_failure;
    freed_.notify_one();
    return fail(opened.error());
  }
  failure_until_ = MonoTime{};
  return Lease{std::move(*opened), true};
}

void ConnectionPool::give_back(Lease lease) {
  // Work that ended inside a transaction leaves it to the server to undo: the connection goes.
  if (!lease.connection->usable() || lease.connection->in_transaction()) lease.connection.reset();
  const std::scoped_lock lock(mutex_);
  --out_;
  if (lease.connection) idle_.push_back(std::move(lease.connection));
  freed_.notify_one();
}

void ConnectionPool::drop_idle() {
  std::vector<std::unique_ptr<Connection>> dropped;  // closed outside the lock
  const std::scoped_lock lock(mutex_);
  dropped.swap(idle_);
}

}  // namespace rota::master::store
