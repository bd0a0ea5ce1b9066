#include "common/zk/named_locks.h"

#include <algorithm>
#include <chrono>

#include "common/base/random.h"
#include "common/zk/real_client.h"

namespace rota::zk {

namespace {

using std::chrono::steady_clock;

constexpr Millis kFirstPause{50};        // after a try that found no holder to wait for
constexpr int kPauseSpread = 101;        // ms, added at random
constexpr Millis kLook{25};              // how often it checks whether the caller wants to stop
constexpr Millis kConnectPatience{5000};
constexpr int kTriesToGiveBack = 3;

SessionOptions options_of(const LockAddress& address) {
  SessionOptions options;
  options.client.addresses = address.servers;
  options.client.session_timeout = address.session_timeout;
  return options;
}

class HeldNode final : public HeldLock {
 public:
  HeldNode(NamedLocks& locks, NamedLocks::Taken taken, std::int64_t token)
      : locks_(locks), taken_(std::move(taken)), token_(token) {}
  ~HeldNode() override { locks_.give_back(taken_); }
  HeldNode(const HeldNode&) = delete;
  HeldNode& operator=(const HeldNode&) = delete;

  std::int64_t token() const override { return token_; }
  bool is_held() const override { return locks_.is_current(taken_); }
  Millis session_timeout() const override { return taken_.client->session_timeout(); }

 private:
  NamedLocks& locks_;
  const NamedLocks::Taken taken_;
  const std::int64_t token_;
};

Millis pause() { return kFirstPause + Millis{static_cast<int>(random_u64() % kPauseSpread)}; }


}  // namespace

/// One call of take, from its first try to its last.
struct NamedLocks::Try {
  std::string name;
  Taken node;
  bool may_be_ours = false;            ///< this call may have created a node
  bool is_watched = false;             ///< the other holder's node, since the last try
  bool is_changed = false;             ///< that node; guarded by the mutex
  std::string holder;                  ///< the holder that the last try found
};

NamedLocks::NamedLocks(ClientFactory factory, LockAddress address, Millis look_again)
    : paths_(address.cluster), look_again_(look_again), session_(std::move(factory), options_of(address)) {
  session_.attach(*this);
}

NamedLocks::~NamedLocks() {
  session_.detach(*this);
  session_.stop();
}

Result<std::unique_ptr<HeldLock>> NamedLocks::take(const std::string& name, const std::string& owner,
                                                     Millis at_most, const Waiting& wait) {
  if (!is_cluster_name(name)) {
    return fail(ErrorCode::InvalidArgument,
                "the lock '" + name + "': a name is 1 to 64 letters, digits, '-', '_' or '.'");
  }
  session_.start();
  Try attempt;
  attempt.name = name;
  attempt.node.path = paths_.locks() + "/" + name;
  attempt.node.data = random_hex(8) + " " + owner;
  {
    std::scoped_lock lock(mutex_);
    trying_.push_back(&attempt);
  }
  auto taken = acquire_within(attempt, at_most, wait);
  {
    std::scoped_lock lock(mutex_);
    std::erase(trying_, &attempt);
  }
  if (!taken && attempt.may_be_ours) give_back(attempt.node);
  return taken;
}

Result<std::unique_ptr<HeldLock>> NamedLocks::acquire_within(Try& attempt, Millis at_most,
                                                            const Waiting& wait) {
  const std::string what = "the lock '" + attempt.name + "'";
  // In addition to the caller's limit, which is for other holders: a process's first lock needs a session.
  (void)session_.wait_connected(kConnectPatience);
  const auto deadline = steady_clock::now() + at_most;
  while (true) {
    auto client = session_.wait_connected(std::clamp(at_most, Millis{1}, kConnectPatience));
    if (client) {
      const SessionId session = (*client)->session_id();
      if (attempt.node.session != session) attempt.may_be_ours = false;  // it went with its session
      attempt.node.client = std::move(*client);
      attempt.node.session = session;
      auto taken = try_once(attempt);
      if (taken || taken.error().code != ErrorCode::Conflict) return taken;
    } else {
      attempt.holder = "nobody known: " + client.error().message;
    }
    const auto left = std::chrono::ceil<Millis>(deadline - steady_clock::now());
    if (left <= Millis{0}) {
      const ErrorCode code = client ? ErrorCode::TimedOut : ErrorCode::Unavailable;
      return fail(code, what + " is held by " + attempt.holder);
    }
    if (is_told_to_stop(attempt, left, wait)) {
      return fail(ErrorCode::TimedOut, "the run was told to stop while it waited for " + what);
    }
  }
}

/// Returns when another try makes sense, or `at_most` has passed; true when the caller must give up.
bool NamedLocks::is_told_to_stop(Try& attempt, Millis at_most, const Waiting& wait) {
  if (!attempt.is_watched) return wait(std::min(pause(), at_most));
  const auto end = steady_clock::now() + std::min(look_again_ + pause(), at_most);
  while (true) {
    bool is_changed = false;
    {
      std::unique_lock lock(mutex_);
      is_changed = changed_.wait_until(lock, std::min(end, steady_clock::now() + kLook),
                                       [&] { return attempt.is_changed; });
    }
    if (wait(Millis{0})) return true;
    if (is_changed || steady_clock::now() >= end) return false;
  }
}

/// Conflict: not this time.
Result<std::unique_ptr<HeldLock>> NamedLocks::try_once(Try& attempt) {
  const auto not_now = [] { return fail(ErrorCode::Conflict, "not this time"); };
  Client& client = *attempt.node.client;
  attempt.is_watched = false;
  {
    std::scoped_lock lock(mutex_);
    attempt.is_changed = false;  // only later changes count
  }
  auto made = client.create(attempt.node.path, attempt.node.data, CreateMode::Ephemeral);
  if (!made && made.error().code == ErrorCode::NotFound && ensure_folder(client, paths_.locks())) {
    made = client.create(attempt.node.path, attempt.node.data, CreateMode::Ephemeral);
  }
  if (!made && made.error().code == ErrorCode::NotFound) {
    attempt.holder = "nobody known: there is no folder for locks";
    return not_now();
  }
  if (made || made.error().code != ErrorCode::AlreadyExists) attempt.may_be_ours = true;
  // Read in any case: the token is in the node's stat, and when the create was not answered, the node may
  // be ours.
  const auto node = client.get(attempt.node.path, Watch::Yes);
  if (!node) {
    attempt.holder = "nobody known: " + node.error().message;
    return not_now();
  }
  if (node->data == attempt.node.data && node->stat.ephemeral_owner == client.session_id()) {
    return std::make_unique<HeldNode>(*this, attempt.node, node->stat.created_zxid);
  }
  attempt.is_watched = true;
  attempt.holder = node->data.substr(std::min(node->data.size(), node->data.find(' ') + 1));
  return not_now();
}

void NamedLocks::give_back(const Taken& taken) {
  for (int tries = 0; tries < kTriesToGiveBack; ++tries) {
    if (is_given_back(taken)) return;
  }
  std::scoped_lock lock(mutex_);
  pending_.push_back(taken);
}

/// Reads before it removes: after a removal whose answer was lost, another run of the same session may
/// have the lock.
bool NamedLocks::is_given_back(const Taken& taken) {
  if (is_over(taken)) return true;
  const std::shared_ptr<Client> client = client_of(taken);
  const auto node = client->get(taken.path, Watch::No);
  if (!node) return node.error().code == ErrorCode::NotFound;
  if (node->data != taken.data) return true;
  const auto removed = client->remove(taken.path);
  return removed || removed.error().code == ErrorCode::NotFound;
}

/// Judges by its session: a closed handle may only have been replaced by a later one of the same session.
bool NamedLocks::is_over(const Taken& taken) const {
  if (taken.client->state() == SessionState::Expired) return true;
  const auto present = session_.client();
  return present == nullptr || present->session_id() != taken.session;
}

/// The session's present handle; a handle of another session says nothing about this one.
std::shared_ptr<Client> NamedLocks::client_of(const Taken& taken) const {
  auto present = session_.client();
  return present && present->session_id() == taken.session ? present : taken.client;
}

void NamedLocks::give_back_pending() {
  std::vector<Taken> pending;
  {
    std::scoped_lock lock(mutex_);
    pending.swap(pending_);
  }
  for (const Taken& taken : pending) give_back(taken);
}

void NamedLocks::session_reattached(Client&) {
  give_back_pending();
  std::scoped_lock lock(mutex_);
  for (Try* const attempt : trying_) attempt->is_changed = true;  // no watch is armed any more
  changed_.notify_all();
}

void NamedLocks::session_ended() {
  std::scoped_lock lock(mutex_);
  pending_.clear();
  for (Try* const attempt : trying_) attempt->is_changed = true;  // their watches went with it
  changed_.notify_all();
}

void NamedLocks::watch_fired(Client&, const Event& event) {
  std::scoped_lock lock(mutex_);
  for (Try* const attempt : trying_) {
    if (attempt->node.path == event.path) attempt->is_changed = true;
  }
  changed_.notify_all();
}

bool NamedLocks::is_current(const Taken& taken) const {
  return session_.client() == taken.client && taken.client->state() == SessionState::Connected;
}

std::unique_ptr<LockService> make_locks(const LockAddress& address) {
  if (address.servers.empty()) return nullptr;
  return std::make_unique<NamedLocks>(make_real_client, address);
}

}  // namespace rota::zk
