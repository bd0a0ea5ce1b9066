#include "common/zk/real_client.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <string_view>

#include "common/base/log.h"

namespace rota::zk {

namespace {

ErrorCode code_of(int rc) {
  switch (rc) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZSESSIONMOVED:
    case ZCLOSING: return ErrorCode::UnknownOutcome;
    case ZNONODE: return ErrorCode::NotFound;
    case ZNODEEXISTS: return ErrorCode::AlreadyExists;
    case ZBADVERSION:
    case ZNOTEMPTY: return ErrorCode::Conflict;
    case ZNOAUTH:
    case ZAUTHFAILED: return ErrorCode::Denied;
    case ZBADARGUMENTS:
    case ZNOCHILDRENFOREPHEMERALS: return ErrorCode::InvalidArgument;
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE:
    case ZNOTREADONLY: return ErrorCode::Unavailable;
    case ZTHROTTLEDOP: return ErrorCode::Overloaded;
    default: return ErrorCode::Internal;
  }
}

Error error_of(int rc, std::string_view what, const std::string& path) {
  return Error(code_of(rc), "ZooKeeper: " + std::string(what) + " " + path + ": " + zerror(rc) +
                                " (" + std::to_string(rc) + ")");
}

NodeStat stat_of(const struct Stat* stat) {
  if (stat == nullptr) return {};
  return NodeStat{stat->version, stat->ephemeralOwner, stat->czxid, stat->ctime, stat->mzxid, stat->cversion};
}

/// At most one warning in 30 s: while its servers are away, the library warns at each try, and the self
/// check reports the problem anyway.
bool is_time_to_warn() {
  static std::atomic<std::int64_t> next_us = 0;
  const std::int64_t now = BootClock::now().time_since_epoch().count();
  std::int64_t next = next_us.load();
  return now >= next && next_us.compare_exchange_strong(next, now + 30'000'000);
}

/// The library's lines look like "…:ZOO_WARN@function@123: text".
void write_log(const char* message) {
  const std::string_view line(message);
  const bool is_error = line.find("ZOO_ERROR") != std::string_view::npos;
  const bool is_warning = line.find("ZOO_WARN") != std::string_view::npos;
  if ((is_error || is_warning) && is_time_to_warn()) {
    log_warn("zookeeper", "library warns", {{"text", line}});
  } else {
    log_debug("zookeeper", "library says", {{"text", line}});
  }
}

/// The answer that one call waits for. Shared by the waiting caller and the library's callback,
/// because either may end last: the caller leaves at its deadline, the answer may come later.
template <typename T>
class Answer {
 public:
  void give(Result<T> result) {
    {
      std::scoped_lock lock(mutex_);
      result_ = std::move(result);
    }
    ready_.notify_all();
  }
  /// Empty at the deadline.
  std::optional<Result<T>> wait_until(MonoTime deadline) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, deadline - BootClock::now(), [&] { return result_.has_value(); });
    return std::move(result_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::optional<Result<T>> result_;
};

/// The data that the library keeps for one call; its callback frees it.
template <typename T>
struct Call {
  std::shared_ptr<Answer<T>> answer;
  std::string_view what;
  std::string path;
};

template <typename T>
std::unique_ptr<const Call<T>> taken(const void* data) {
  return std::unique_ptr<const Call<T>>(static_cast<const Call<T>*>(data));
}

void done_void(int rc, const void* data) {
  const auto call = taken<void>(data);
  if (rc == ZOK) return call->answer->give({});
  call->answer->give(fail(error_of(rc, call->what, call->path)));
}

void done_string(int rc, const char* value, const void* data) {
  const auto call = taken<std::string>(data);
  if (rc == ZOK) return call->answer->give(std::string(value));
  call->answer->give(fail(error_of(rc, call->what, call->path)));
}

void done_set(int rc, const struct Stat* stat, const void* data) {
  const auto call = taken<NodeStat>(data);
  if (rc == ZOK) return call->answer->give(stat_of(stat));
  call->answer->give(fail(error_of(rc, call->what, call->path)));
}

void done_exists(int rc, const struct Stat* stat, const void* data) {
  using Maybe = std::optional<NodeStat>;
  const auto call = taken<Maybe>(data);
  if (rc == ZOK) return call->answer->give(Maybe(stat_of(stat)));
  if (rc == ZNONODE) return call->answer->give(Maybe{});
  call->answer->give(fail(error_of(rc, call->what, call->path)));
}

void done_get(int rc, const char* value, int length, const struct Stat* stat, const void* data) {
  const auto call = taken<Node>(data);
  if (rc != ZOK) return call->answer->give(fail(error_of(rc, call->what, call->path)));
  std::string bytes;
  if (value != nullptr && length > 0) bytes.assign(value, static_cast<std::size_t>(length));
  call->answer->give(Node{std::move(bytes), stat_of(stat)});
}

void done_list(int rc, const struct String_vector* strings, const void* data) {
  const auto call = taken<std::vector<std::string>>(data);
  if (rc != ZOK) return call->answer->give(fail(error_of(rc, call->what, call->path)));
  std::vector<std::string> names;
  for (int i = 0; strings != nullptr && i < strings->count; ++i) {
    names.emplace_back(strings->data[i]);
  }
  std::sort(names.begin(), names.end());
  call->answer->give(std::move(names));
}

void done_sync(int rc, const char*, const void* data) { done_void(rc, data); }

Event::Change change_of(int type) {
  if (type == ZOO_CREATED_EVENT) return Event::Change::Created;
  if (type == ZOO_DELETED_EVENT) return Event::Change::Deleted;
  if (type == ZOO_CHANGED_EVENT) return Event::Change::Data;
  if (type == ZOO_CHILD_EVENT) return Event::Change::Children;
  return Event::Change::None;
}

class RealClient final : public Client {
 public:
  RealClient(const ClientOptions& options, EventHandler handler)
      : deadline_(options.operation_deadline), handler_(std::move(handler)) {}
  ~RealClient() override { close(); }

  Result<void> open(const ClientOptions& options);

  Result<std::string> create(const std::string& path, const std::string& data,
                             CreateMode mode) override;
  Result<void> remove(const std::string& path, std::int32_t version) override;
  Result<Node> get(const std::string& path, Watch watch) override;
  std::vector<Result<Node>> get_many(const std::vector<std::string>& paths, Watch watch) override;
  Result<std::optional<NodeStat>> exists(const std::string& path, Watch watch) override;
  Result<NodeStat> set(const std::string& path, const std::string& data,
                       std::int32_t version) override;
  Result<std::vector<std::string>> list(const std::string& path, Watch watch) override;
  Result<void> sync(const std::string& path) override;

  SessionId session_id() const override { return credentials().id; }
  SessionState state() const override;
  Millis session_timeout() const override;
  Credentials credentials() const override;
  bool close() override;
  bool abandon() override;

 private:
  static void on_session(zhandle_t* handle, int type, int state, const char* path, void* self);
  static void on_watch(zhandle_t* handle, int type, int state, const char* path, void* self);
  void session_changed(zhandle_t* handle, int state);

  template <typename T>
  Result<T> wait(const Call<T>& call, MonoTime deadline);
  template <typename T, typename Send>
  Call<T> send(std::string_view what, const std::string& path, Send send_it);
  template <typename T, typename Send>
  Result<T> ask(std::string_view what, const std::string& path, Send send_it);
  template <typename T, typename Send>
  static int send_with(const Call<T>& call, Send send_it);

  const Millis deadline_;
  const EventHandler handler_;
  /// Held shared while a call is passed to the library, exclusively while the handle is made or closed.
  mutable std::shared_mutex handle_mutex_;
  zhandle_t* handle_ = nullptr;
  mutable std::mutex state_mutex_;
  SessionState state_ = SessionState::Connecting;
  Credentials credentials_;
  Millis session_timeout_{0};
};

Result<void> RealClient::open(const ClientOptions& options) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
  clientid_t id{};
  if (options.attach) {
    if (options.attach->password.size() != sizeof id.passwd) {
      return fail(ErrorCode::InvalidArgument, "a session's password has 16 bytes");
    }
    id.client_id = options.attach->id;
    std::memcpy(id.passwd, options.attach->password.data(), sizeof id.passwd);
  }
  errno = 0;
  std::unique_lock lock(handle_mutex_);
  handle_ = zookeeper_init2(options.addresses.c_str(), &RealClient::on_session,
                            static_cast<int>(options.session_timeout.count()),
                            options.attach ? &id : nullptr, this, ZOO_NO_LOG_CLIENTENV, &write_log);
  if (handle_ != nullptr) return {};
  const int why = errno;
  return fail(why == EINVAL ? ErrorCode::InvalidArgument : ErrorCode::Unavailable,
              "ZooKeeper: cannot use the addresses '" + options.addresses +
                  "': " + std::generic_category().message(why));
}

void RealClient::on_session(zhandle_t* handle, int type, int state, const char*, void* self) {
  if (type == ZOO_SESSION_EVENT) static_cast<RealClient*>(self)->session_changed(handle, state);
}

void RealClient::session_changed(zhandle_t* handle, int state) {
  Event event;
  {
    std::scoped_lock lock(state_mutex_);
    if (state == ZOO_CONNECTED_STATE) {
      const clientid_t* id = zoo_client_id(handle);
      credentials_ = Credentials{id->client_id, std::string(id->passwd, sizeof id->passwd)};
      session_timeout_ = Millis{zoo_recv_timeout(handle)};
      state_ = SessionState::Connected;
      event.what = Event::What::Connected;
    } else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
      state_ = SessionState::Expired;
      event.what = Event::What::Expired;
    } else {
      if (state_ != SessionState::Connected) return;
      state_ = SessionState::Connecting;
      event.what = Event::What::Suspended;
    }
    event.session = credentials_.id;
  }
  handler_(event);
}

void RealClient::on_watch(zhandle_t*, int type, int, const char* path, void* self) {
  const Event::Change change = change_of(type);
  if (change == Event::Change::None) return;  // on_session gets session events too
  auto* client = static_cast<RealClient*>(self);
  client->handler_(Event{Event::What::Watch, client->session_id(), change, path});
}

template <typename T>
Result<T> RealClient::wait(const Call<T>& call, MonoTime deadline) {
  auto answered = call.answer->wait_until(deadline);
  if (answered) return std::move(*answered);
  return fail(ErrorCode::UnknownOutcome,
              "ZooKeeper: " + std::string(call.what) + " " + call.path + ": no answer in time");
}

/// Passes the call to the library; the library's copy comes back through its callback, exactly once,
/// unless it refuses the call.
template <typename T, typename Send>
int RealClient::send_with(const Call<T>& call, Send send_it) {
  auto copy = std::make_unique<const Call<T>>(call);
  const int rc = send_it(static_cast<const void*>(copy.get()));
  if (rc == ZOK) static_cast<void>(copy.release());
  return rc;
}

template <typename T, typename Send>
Call<T> RealClient::send(std::string_view what, const std::string& path, Send send_it) {
  Call<T> call{std::make_shared<Answer<T>>(), what, path};
  std::shared_lock lock(handle_mutex_);
  if (handle_ == nullptr) {
    call.answer->give(fail(ErrorCode::Unavailable, "ZooKeeper: this session is closed"));
    return call;
  }
  const int rc = send_with(call, [&](const void* data) { return send_it(handle_, data); });
  if (rc != ZOK) call.answer->give(fail(error_of(rc, what, path)));
  return call;
}

template <typename T, typename Send>
Result<T> RealClient::ask(std::string_view what, const std::string& path, Send send_it) {
  const MonoTime deadline = BootClock::now() + deadline_;
  return wait(send<T>(what, path, send_it), deadline);
}

Result<std::string> RealClient::create(const std::string& path, const std::string& data,
                                       CreateMode mode) {
  int flags = 0;
  if (mode == CreateMode::Ephemeral) flags = ZOO_EPHEMERAL;
  if (mode == CreateMode::EphemeralSequential) flags = ZOO_EPHEMERAL_SEQUENTIAL;
  return ask<std::string>("create", path, [&](zhandle_t* handle, const void* call) {
    return zoo_acreate(handle, path.c_str(), data.data(), static_cast<int>(data.size()),
                       &ZOO_OPEN_ACL_UNSAFE, flags, &done_string, call);
  });
}

Result<void> RealClient::remove(const std::string& path, std::int32_t version) {
  return ask<void>("remove", path, [&](zhandle_t* handle, const void* call) {
    return zoo_adelete(handle, path.c_str(), version, &done_void, call);
  });
}

Result<Node> RealClient::get(const std::string& path, Watch watch) {
  return std::move(get_many({path}, watch).front());
}

std::vector<Result<Node>> RealClient::get_many(const std::vector<std::string>& paths,
                                               Watch watch) {
  const MonoTime deadline = BootClock::now() + deadline_;
  watcher_fn watcher = watch == Watch::Yes ? &RealClient::on_watch : nullptr;
  std::vector<Call<Node>> calls;
  calls.reserve(paths.size());
  for (const auto& path : paths) {
    calls.push_back(send<Node>("get", path, [&](zhandle_t* handle, const void* call) {
      return zoo_awget(handle, path.c_str(), watcher, this, &done_get, call);
    }));
  }
  std::vector<Result<Node>> nodes;
  nodes.reserve(paths.size());
  for (const auto& call : calls) nodes.push_back(wait(call, deadline));
  return nodes;
}

Result<std::optional<NodeStat>> RealClient::exists(const std::string& path, Watch watch) {
  watcher_fn watcher = watch == Watch::Yes ? &RealClient::on_watch : nullptr;
  return ask<std::optional<NodeStat>>("exists", path, [&](zhandle_t* handle, const void* call) {
    return zoo_awexists(handle, path.c_str(), watcher, this, &done_exists, call);
  });
}

Result<NodeStat> RealClient::set(const std::string& path, const std::string& data,
                                 std::int32_t version) {
  return ask<NodeStat>("set", path, [&](zhandle_t* handle, const void* call) {
    return zoo_aset(handle, path.c_str(), data.data(), static_cast<int>(data.size()), version,
                    &done_set, call);
  });
}

Result<std::vector<std::string>> RealClient::list(const std::string& path, Watch watch) {
  watcher_fn watcher = watch == Watch::Yes ? &RealClient::on_watch : nullptr;
  return ask<std::vector<std::string>>("list", path, [&](zhandle_t* handle, const void* call) {
    return zoo_awget_children(handle, path.c_str(), watcher, this, &done_list, call);
  });
}

Result<void> RealClient::sync(const std::string& path) {
  return ask<void>("sync", path, [&](zhandle_t* handle, const void* call) {
    return zoo_async(handle, path.c_str(), &done_sync, call);
  });
}

SessionState RealClient::state() const {
  std::scoped_lock lock(state_mutex_);
  return state_;
}

Millis RealClient::session_timeout() const {
  std::scoped_lock lock(state_mutex_);
  return session_timeout_;
}

Credentials RealClient::credentials() const {
  std::scoped_lock lock(state_mutex_);
  return credentials_;
}

/// The library tells the server about a close only when it is connected, so a handle that is not connected
/// does not end its session. If it connects within these few instructions, the session ends: its holder
/// then gets that event and starts a new one.
bool RealClient::abandon() {
  zhandle_t* handle = nullptr;
  {
    std::unique_lock lock(handle_mutex_);
    if (handle_ != nullptr && zoo_state(handle_) == ZOO_CONNECTED_STATE) return false;
    handle = std::exchange(handle_, nullptr);
  }
  if (handle != nullptr) zookeeper_close(handle);
  std::scoped_lock lock(state_mutex_);
  state_ = SessionState::Closed;
  return true;
}

bool RealClient::close() {
  zhandle_t* handle = nullptr;
  {
    std::unique_lock lock(handle_mutex_);
    handle = std::exchange(handle_, nullptr);
  }
  if (handle == nullptr) return false;
  const bool was_connected = state() == SessionState::Connected;
  const bool told = zookeeper_close(handle) == ZOK && was_connected;
  std::scoped_lock lock(state_mutex_);
  if (state_ != SessionState::Expired) state_ = SessionState::Closed;
  return told;
}

}  // namespace

Result<std::unique_ptr<Client>> make_real_client(const ClientOptions& options,
                                                 EventHandler handler) {
  auto client = std::make_unique<RealClient>(options, std::move(handler));
  if (auto opened = client->open(options); !opened) return fail(opened.error());
  return std::unique_ptr<Client>(std::move(client));
}

Result<std::unique_ptr<Client>> connect_once(const ClientOptions& options) {
  auto connected = std::make_shared<Answer<void>>();  // shared: the library's thread may outlast us
  auto client = make_real_client(options, [connected](const Event& event) {
    if (event.what == Event::What::Connected) connected->give({});
    if (event.what == Event::What::Expired) {
      connected->give(fail(ErrorCode::NotFound, "this session of ZooKeeper has expired"));
    }
  });
  if (!client) return client;
  const auto answer = connected->wait_until(BootClock::now() + options.operation_deadline);
  if (!answer) {
    return fail(ErrorCode::Unavailable, "ZooKeeper at " + options.addresses + " does not answer");
  }
  if (!*answer) return fail(answer->error());
  return client;
}

}  // namespace rota::zk
