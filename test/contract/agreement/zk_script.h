// A script for ZooKeeper's clients, and one side that plays it: a real server or the fake one.
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

struct ZkStep {
  enum class Kind { Create, Remove, Set, Get, Exists, List, Close, EndByOther };
  Kind kind = Kind::Get;
  int peer = 0;
  std::string path;             ///< below the script's folder
  zk::CreateMode mode = zk::CreateMode::Persistent;
  std::int32_t version = zk::kAnyVersion;
  std::string data;
  zk::Watch watch = zk::Watch::No;
};

ZkStep random_zk_step(Dice& dice);
std::string text_of(const ZkStep& step);

/// Several sessions with one server, and a folder for this script alone. Thread: one.
class ZkSide {
 public:
  /// The folder must be there; `address` is what its clients connect to.
  ZkSide(zk::ClientFactory factory, std::string address, std::string folder);

  /// Plays the step; a peer whose session is over gets a new one first. What it came to, what each
  /// session heard of it, and all nodes afterwards, in words that are alike on all sides.
  std::string play(const ZkStep& step);

 private:
  /// What a session heard; shared with the client's threads.
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
  };

  Peer connect();
  void begin_session(int peer);
  std::string act(Peer& peer, const ZkStep& step);
  void end_surely(const Peer& peer);
  std::string end_by_other(Peer& peer);
  std::string whole(const std::string& path) const { return folder_ + path; }
  std::string relative(const std::string& path) const;
  std::string owner_of(zk::SessionId session) const;
  std::string tell_events();
  void add_tree(const std::string& path, std::string& out);

  const zk::ClientFactory factory_;
  const std::string address_;
  const std::string folder_;
  std::vector<Peer> peers_;
  Peer observer_;
  std::map<zk::SessionId, std::string> owners_;
  int sessions_ = 0;
};

}  // namespace rota::agreement
