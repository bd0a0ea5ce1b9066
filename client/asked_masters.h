// What came of asking each master, for the last word of a call when nobody could help. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/rpc/error_wire.h"

namespace rota::client {

/// Owner: one call. Thread: its one.
class AskedMasters {
 public:
  /// A read is harmless, so nobody needs to know whether an unanswered one was done.
  explicit AskedMasters(bool is_read) : is_read_(is_read) {}

  /// `who`: a master's address, or the ZooKeeper that was asked where the leader is.
  void take(const std::string& who, const rpc::CallError& failure);
  /// The cause as the latest master that answered tells it, with its address, and what came back from each
  /// that did not. UnknownOutcome when any try of a change may have been done.
  Error last_word(Millis tried_for) const;

 private:
  struct Answer {
    std::string who;
    rpc::CallError failure;
  };

  std::string text_of_answer() const;
  std::string text_of_silent() const;

  const bool is_read_;
  std::optional<Answer> answer_;
  std::map<std::string, Error> silent_;  ///< by who did not answer
  Error last_;
  bool may_be_done_ = false;
};

}  // namespace rota::client
