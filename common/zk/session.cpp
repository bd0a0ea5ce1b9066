#include "common/zk/session.h"

#include <algorithm>

#include "common/base/log.h"

namespace rota::zk {

namespace {
constexpr std::string_view kChannel = "zk";
/// How long an outside thread waits for the task thread; its own calls have shorter deadlines.
constexpr Millis kPatience{30'000};
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
  if (serial != serial_) return;  // of an earlier session
  switch (event.what) {
    case Event::What::Connected: return on_connected();
    case Event::What::Suspended:
      connected_ = false;
      log_warn(kChannel, "connection lost", {{"session", event.session}});
      return tell([](SessionObserver& each) { each.session_suspended(); });
    case Event::What::Expired: return on_expired();
    case Event::What::Watch:
      if (began_) tell([&](SessionObserver& each) { each.watch_fired(*opening_, event); });
      return;
  }
}

void Session::on_connected() {
  if (!began_) record_session();  // before the first ephemeral node
  connected_ = true;
  if (began_) {
    log_info(kChannel, "connected again", {{"session", opening_->session_id()}});
    return tell([this](SessionObserver& each) { each.session_resumed(*opening_); });
  }
  began_ = true;
  backoff_ = options_.backoff_first;
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

void Session::record_session() {
  const auto written = file_.write_present(opening_->credentials(), options_.client.addresses,
                                           options_.cluster_uuid);
  if (!written) {
    // Going on costs only time: should this process die, its nodes go when the session expires.
    log_error(kChannel, "the session file cannot be written", {{"error", written.error().message}});
  }
}

void Session::on_expired() {
  log_warn(kChannel, "session expired", {{"session", opening_->session_id()}});
  end_session();
  open_later();
}

bool Session::end_session() {
  ++serial_;  // what still comes of this client is dropped
  connected_ = false;
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
    if (began_) observer.session_began(*opening_);
  });
}

void Session::detach(SessionObserver& observer) {
  tasks_.drop(&observer);
  const auto leave = [this, &observer] { std::erase(observers_, &observer); };
  // Once the thread has ended nobody else touches the list.
  if (!tasks_.run(kPatience, leave)) leave();
  tasks_.drop(&observer);  // what it posted meanwhile
}

template <typename Call>
void Session::tell(Call call) {
  const auto present = observers_;  // one may attach or detach another while it is told
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
