#include "common/zk/session.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/zk/reattach_rules.h"

namespace rota::zk {

namespace {
constexpr std::string_view kChannel = "zk";
/// How long an outside thread waits for the task thread; its own calls have shorter deadlines.
constexpr Millis kPatience{30'000};
/// A server that is behind, or cut off from the others, does not answer a sync.
constexpr Millis kSyncRetry{100};
}  // namespace

Session::Session(ClientFactory factory, SessionOptions options)
    : factory_(std::move(factory)),
      options_(std::move(options)),
      file_(options_.session_file),
      backoff_(options_.backoff_first) {}

Session::~Session() { stop(); }

void Session::start() {
  if (started_.exchange(true)) return;
  tasks_.post(this, [this] { open(); });
}

void Session::open() {
  const int serial = ++serial_;
  auto made = factory_(options_.client, [this, serial](const Event& event) {
    tasks_.post(this, [this, serial, event] { handle(serial, event); });
  });
  if (made) {
    opening_ = std::move(*made);
    return;
  }
  log_warn(kChannel, "cannot begin a session",
           {{"error", made.error().message}, {"retry_ms", backoff_.count()}});
  open_later();
}

void Session::open_later() {
  tasks_.post_after(this, backoff_, [this] { open(); });
  backoff_ = std::min(backoff_ * 2, options_.backoff_most);
}

void Session::handle(int serial, const Event& event) {
  if (serial != serial_) return;  // from an earlier session
  switch (event.what) {
    case Event::What::Connected: return on_connected();
    case Event::What::Suspended: return on_suspended(event);
    case Event::What::Expired: return on_expired();
    case Event::What::Watch:
      if (began_ && !reattached_) tell([&](SessionObserver& each) { each.watch_fired(*opening_, event); });
      return;
  }
}

void Session::on_connected() {
  ++turns_;
  backoff_ = options_.backoff_first;
  if (!began_) return begin();
  if (reattached_) return come_back();
  connected_ = true;
  log_info(kChannel, "connected again", {{"session", opening_->session_id()}});
  tell([this](SessionObserver& each) { each.session_resumed(*opening_); });
}

void Session::begin() {
  record_session();  // before the first ephemeral node
  connected_ = true;
  began_ = true;
  held_ = opening_->credentials();
  timeout_ = opening_->session_timeout();
  log_info(kChannel, "session began",
           {{"session", opening_->session_id()},
            {"timeout_ms", opening_->session_timeout().count()}});
  {
    std::scoped_lock lock(mutex_);
    client_ = opening_;
  }
  changed_.notify_all();
  tell([this](SessionObserver& each) { each.session_began(*opening_); });
}

void Session::on_suspended(const Event& event) {
  ++turns_;
  log_warn(kChannel, "connection lost", {{"session", event.session}});
  if (began_) reattach_later(reattach_after(timeout_));
  if (connected_.exchange(false)) tell([](SessionObserver& each) { each.session_suspended(); });
}

void Session::reattach_later(Millis delay) {
  tasks_.post_after(this, delay, [this, turn = turns_] {
    if (turn == turns_) reattach();
  });
}

/// A handle that has not connected yet has seen nothing, so it never needs a successor.
void Session::reattach() {
  if (opening_ && !opening_->abandon()) return;  // it has just connected: its event will come
  opening_.reset();
  const int serial = ++serial_;
  ClientOptions options = options_.client;
  options.attach = held_;
  auto made = factory_(options, [this, serial](const Event& event) {
    tasks_.post(this, [this, serial, event] { handle(serial, event); });
  });
  if (made) {
    log_warn(kChannel, "no connection for a whole session timeout; trying the session by a new handle",
             {{"session", held_.id}, {"timeout_ms", timeout_.count()}});
    opening_ = std::move(*made);
    reattached_ = true;
    return;
  }
  log_warn(kChannel, "cannot make a new handle",
           {{"error", made.error().message}, {"retry_ms", backoff_.count()}});
  reattach_later(backoff_);
  backoff_ = std::min(backoff_ * 2, options_.backoff_most);
}

/// A new handle does not know what the old one has read, so a server that lags may serve it: its answers
/// count only after a sync.
void Session::come_back() {
  if (const auto synced = opening_->sync("/"); !synced) {
    log_debug(kChannel, "the new handle waits", {{"error", synced.error().message}});
    tasks_.post_after(this, kSyncRetry, [this, turn = turns_] {
      if (turn == turns_) come_back();
    });
    return;
  }
  reattached_ = false;
  connected_ = true;
  log_warn(kChannel, "the session goes on by a new handle", {{"session", held_.id}});
  {
    std::scoped_lock lock(mutex_);
    client_ = opening_;
  }
  tell([this](SessionObserver& each) { each.session_reattached(*opening_); });
}

void Session::record_session() {
  const auto written = file_.write_present(opening_->credentials(), options_.client.addresses,
                                           options_.cluster_uuid);
  if (!written) {
    // Going on costs only time: if this process dies, its nodes vanish when the session expires.
    log_error(kChannel, "the session file cannot be written", {{"error", written.error().message}});
  }
}

void Session::on_expired() {
  log_warn(kChannel, "session expired",
           {{"session", opening_->session_id()}, {"by_new_handle", reattached_}});
  end_session();
  open_later();
}

bool Session::end_session() {
  ++serial_;  // further events of this client are dropped
  ++turns_;
  connected_ = reattached_ = false;
  const std::shared_ptr<Client> ended = std::exchange(opening_, nullptr);
  {
    std::scoped_lock lock(mutex_);
    client_.reset();
  }
  const bool told = ended != nullptr && ended->close();
  if (std::exchange(began_, false)) tell([](SessionObserver& each) { each.session_ended(); });
  return told;
}

bool Session::stop() {
  if (stopped_.exchange(true)) return told_server_;
  tasks_.run(kPatience, [this] {
    told_server_ = end_session();
    if (told_server_) file_.forget_present();
  });
  tasks_.stop();
  return told_server_;
}

void Session::attach(SessionObserver& observer) {
  tasks_.post(&observer, [this, &observer] {
    observers_.push_back(&observer);
    if (began_) observer.session_began(*client());
  });
}

void Session::detach(SessionObserver& observer) {
  tasks_.drop(&observer);
  const auto leave = [this, &observer] { std::erase(observers_, &observer); };
  // Once the thread has ended, no other thread uses the list.
  if (!tasks_.run(kPatience, leave)) leave();
  tasks_.drop(&observer);  // tasks that it posted meanwhile
}

template <typename Call>
void Session::tell(Call call) {
  const auto present = observers_;  // an observer may attach or detach another during its call
  for (SessionObserver* each : present) {
    if (std::find(observers_.begin(), observers_.end(), each) != observers_.end()) call(*each);
  }
}

std::shared_ptr<Client> Session::client() const {
  std::scoped_lock lock(mutex_);
  return client_;
}

Result<std::shared_ptr<Client>> Session::wait_connected(Millis at_most) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, at_most, [&] { return client_ != nullptr; })) return client_;
  return fail(ErrorCode::TimedOut, "no session with ZooKeeper at " + options_.client.addresses +
                                       " within " + std::to_string(at_most.count()) + " ms");
}

Result<int> Session::end_earlier_sessions(DeathProof proof) {
  return file_.end_earlier(proof, factory_, options_.client.operation_deadline);
}

}  // namespace rota::zk
