// The results of asking each master, for the final error of a call that no master could answer. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/rpc/error_wire.h"

namespace rota::client {

/// Owner: one call. Thread: the call's.
class AskedMasters {
 public:
  /// A read is harmless, so it does not matter whether an unanswered one was done.
  explicit AskedMasters(bool is_read) : is_read_(is_read) {}

  /// `who`: a master's address, or the ZooKeeper that was asked for the leader.
  void take(const std::string& who, const rpc::CallError& failure);
  /// The error of the latest master that answered, with its address, and the error of each that did not
  /// answer. UnknownOutcome when any try of a change may have been done.
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
  std::map<std::string, Error> silent_;  ///< by master that did not answer
  Error last_;
  bool may_be_done_ = false;
};

}  // namespace rota::client
