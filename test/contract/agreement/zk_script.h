// A script for ZooKeeper's clients, and one side that plays it: a real server or a model.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/zk/client.h"
#include "test/contract/agreement/dice.h"

namespace rota::agreement {

inline constexpr int kZkPeers = 3;
/// The ways in which clients connect: one for each peer, one for the observer, and one for a visitor.
inline constexpr int kLooksOn = kZkPeers;
inline constexpr int kVisitor = kZkPeers + 1;
inline constexpr int kZkWays = kZkPeers + 2;

struct ZkStep {
  /// Visit: a client creates a node and falls silent until its session has expired. CutOff: the peer's connection
  /// ends; it comes back before its next step, and has missed what happened meanwhile.
  enum class Kind { Create, Remove, Set, Get, Exists, List, Close, EndByOther, Visit, CutOff };
  Kind kind = Kind::Get;
  int peer = 0;
  std::string path;             ///< below the script's folder
  zk::CreateMode mode = zk::CreateMode::Persistent;
  std::int32_t version = zk::kAnyVersion;
  std::string data;
  zk::Watch watch = zk::Watch::No;
};

enum class ZkFaults { None, All };
ZkStep random_zk_step(Dice& dice, ZkFaults faults);
std::string text_of(const ZkStep& step);

/// A server or its model, and what can be done to it. Thread: one.
class ZkBack {
 public:
  virtual ~ZkBack() = default;
  virtual zk::ClientFactory factory(int way) = 0;
  virtual std::string address(int way) const = 0;
  /// Cuts off the clients that connect in this way; they cannot come back.
  virtual void cut(int way) = 0;
  virtual void mend(int way) = 0;
  /// Lets the timeout pass of a silent session that connected in this way.
  virtual void pass(Millis timeout, int way) = 0;
};

/// Several sessions with one server, and a folder only for this script. Thread: one.
class ZkSide {
 public:
  ZkSide(ZkBack& back, std::string folder);

  /// Plays the step; a peer whose session is over gets a new one first. Returns the result, each session's events,
  /// and all nodes afterwards, as text that is the same on all sides.
  std::string play(const ZkStep& step);

 private:
  /// A session's events; shared with the client's threads.
  struct Heard {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<zk::Event> events;
    bool wait(zk::Event::What what);
    std::vector<zk::Event> take();
  };
  struct Peer {
    std::shared_ptr<Heard> heard;
    std::unique_ptr<zk::Client> client;
    bool over = true;
    bool away = false;
  };

  Peer connect(int way, Millis timeout);
  void begin_session(int peer);
  std::string act(Peer& peer, const ZkStep& step);
  void end_surely(const Peer& peer);
  std::string end_by_other(Peer& peer);
  std::string visit(const ZkStep& step);
  void cut_off(int peer);
  void come_back(int peer);
  std::string whole(const std::string& path) const { return folder_ + path; }
  std::string relative(const std::string& path) const;
  std::string owner_of(zk::SessionId session) const;
  std::string tell_events();
  void add_tree(const std::string& path, std::string& out);

  ZkBack& back_;
  const std::string folder_;
  std::vector<Peer> peers_;
  Peer observer_;
  std::map<zk::SessionId, std::string> owners_;
  int sessions_ = 0;
  int visits_ = 0;
};

}  // namespace rota::agreement
