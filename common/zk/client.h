// One ZooKeeper session's operations, without ZooKeeper's headers. Two implementations: real_client
// (libzookeeper_mt) and the in-process fake of the tests; one contract suite runs on both.
//
// Every call can fail in two ways: it was certainly not done (Retry::Never or Later), or the answer
// was lost and it may or may not have been done (ErrorCode::UnknownOutcome). ZooKeeper's connection
// loss (-4), operation timeout (-7) and our own deadline are all of the second kind: for example, the
// node may exist.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::zk {

/// ZooKeeper's id of a session; 0 means none.
using SessionId = std::int64_t;

/// With these, and only these, another process can attach to a session. Never logged.
struct Credentials {
  SessionId id = 0;
  std::string password;  ///< 16 raw bytes
};

struct NodeStat {
  std::int32_t version = 0;     ///< of the data; grows with each set
  SessionId ephemeral_owner = 0;  ///< the session that owns it; 0 for a persistent node
  std::int64_t created_zxid = 0;
  std::int64_t created_ms = 0;    ///< by the server's clock
  std::int64_t changed_zxid = 0;  ///< of the last change of its data; before that, of its creation
  std::int32_t children_version = 0;  ///< grows with each child created or deleted
};

struct Node {
  std::string data;
  NodeStat stat;
};

/// Connecting covers "never connected yet" and "cut off"; Expired and Closed are final.
enum class SessionState { Connecting, Connected, Expired, Closed };

/// What a session tells its owner. Watches fire once: an event means "read again and re-arm".
struct Event {
  enum class What { Connected, Suspended, Expired, Watch };
  enum class Change { None, Created, Deleted, Data, Children };
  What what = What::Connected;
  SessionId session = 0;
  Change change = Change::None;  ///< Watch only
  std::string path;              ///< Watch only
};

/// Called on ZooKeeper's threads; the fake holds locks meanwhile. It may only post.
using EventHandler = std::function<void(const Event&)>;

enum class Watch { No, Yes };
enum class CreateMode { Persistent, Ephemeral, EphemeralSequential };
inline constexpr std::int32_t kAnyVersion = -1;

/// One session from its handshake to its end; never renewed (session.h makes the next one). Thread:
/// any. Each call blocks its caller for at most the deadline given at construction; none may be called
/// from an EventHandler. Nodes are created with the open ACL: everyone who reaches ZooKeeper's port is
/// trusted (Debian's client has neither TLS nor SASL), so its network must be closed to others.
class Client {
 public:
  virtual ~Client() = default;

  /// Returns the created path (with its sequence). AlreadyExists, NotFound (no parent), UnknownOutcome.
  virtual Result<std::string> create(const std::string& path, const std::string& data,
                                     CreateMode mode) = 0;
  /// NotFound, Conflict (version, or has children), UnknownOutcome.
  virtual Result<void> remove(const std::string& path, std::int32_t version = kAnyVersion) = 0;
  /// NotFound arms no watch.
  virtual Result<Node> get(const std::string& path, Watch watch) = 0;
  /// The same for many paths, all at the same time; answers in the order of `paths`.
  virtual std::vector<Result<Node>> get_many(const std::vector<std::string>& paths,
                                             Watch watch) = 0;
  /// Empty when there is none; the watch is armed either way.
  virtual Result<std::optional<NodeStat>> exists(const std::string& path, Watch watch) = 0;
  /// NotFound, Conflict (another version), UnknownOutcome.
  virtual Result<NodeStat> set(const std::string& path, const std::string& data,
                               std::int32_t version = kAnyVersion) = 0;
  /// Names of the children, sorted. NotFound.
  virtual Result<std::vector<std::string>> list(const std::string& path, Watch watch) = 0;
  /// After this call, reads see at least what the servers had agreed on when it was called.
  virtual Result<void> sync(const std::string& path) = 0;

  virtual SessionId session_id() const = 0;
  virtual SessionState state() const = 0;
  /// The session timeout that the server granted (it limits the requested one); 0 before the
  /// handshake.
  virtual Millis session_timeout() const = 0;
  virtual Credentials credentials() const = 0;

  /// Ends the session, so that its ephemeral nodes vanish at once. True when the server was told; false
  /// when cut off: then the session lasts until it expires. Calling again is harmless.
  virtual bool close() = 0;
  /// Ends this handle but not its session, so that another handle can attach to it. Unfinished calls
  /// return "unknown", later ones fail. Works only while cut off: when connected, it returns false and
  /// does nothing.
  virtual bool abandon() = 0;
};

struct ClientOptions {
  std::string addresses;                 ///< host:port,host:port
  Millis session_timeout{4000};          ///< the requested one
  Millis operation_deadline{2000};       ///< of each blocking call
  std::optional<Credentials> attach;     ///< attach to this session instead of starting one
};

/// Makes clients; Session and the tests get one of these. It does not wait for the
/// connection.
using ClientFactory =
    std::function<Result<std::unique_ptr<Client>>(const ClientOptions&, EventHandler)>;

}  // namespace rota::zk
