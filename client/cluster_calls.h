// How a Cluster calls masters: again and again until one answers, or the deadline has passed. For the files
// that implement Cluster alone.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "client/asked_masters.h"
#include "client/cluster.h"
#include "client/cluster_connection.h"
#include "common/rpc/channel.h"

namespace rota::client {

inline constexpr Millis kShortestTry{300};
inline constexpr Millis kFirstPause{20};
inline constexpr Millis kLongestPause{500};

/// A try must leave time for another master: a master that hangs accepts connections and never answers.
inline Millis time_for_one_try(Millis deadline) { return std::max(deadline / 3, kShortestTry); }

template <typename Value>
Result<Value> Cluster::ask(bool of_leader, Repeat repeat, const Call<Value>& call,
                           Millis deadline) {
  const MonoTime end = BootClock::now() + deadline;
  Millis pause = kFirstPause;
  AskedMasters asked(repeat == Repeat::Read);
  bool may_be_done = false;
  for (bool first = true;; first = false) {
    const Millis left = floor_ms(end - BootClock::now());
    if (!first && left <= pause) return fail(asked.last_word(deadline));
    if (!first) {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
    auto channel = connection_->channel();
    if (!channel) {
      if (channel.error().code == ErrorCode::InvalidArgument) return fail(channel.error());
      rpc::CallError failure;
      failure.error = channel.error();
      asked.take(connection_->tried(), failure);
      continue;
    }
    thrift::RequestHead head;
    const Millis each =
        std::clamp(time_for_one_try(deadline), Millis{1},
                   std::max(Millis{1}, floor_ms(end - BootClock::now())));
    head.__set_deadline_ms(static_cast<std::int32_t>(each.count()));
    if (!options_.token.empty()) head.__set_token(options_.token);
    auto answer = (*channel)->call(
        [&](thrift::JobServiceClient& client) {
          Value value{};
          call(client, value, head);
          return value;
        },
        each);
    if (answer) return std::move(*answer);
    asked.take(rpc::to_string((*channel)->peer()), answer.error());
    const Error& last = answer.error().error;
    const bool unknown = last.retry == Retry::Unknown;
    const bool again = last.retry == Retry::Later || (unknown && repeat != Repeat::Never);
    const bool has_gone = may_be_done && last.code == ErrorCode::NotFound;
    if (has_gone && repeat == Repeat::HarmlessDeletion) return Value{};
    may_be_done = may_be_done || unknown;
    if (!again) return fail(last);
    if (!answer.error().answered || last.code == ErrorCode::NotLeader) {
      connection_->move_on(answer.error().leader);
      if (!answer.error().leader.empty()) pause = kFirstPause;
    }
    if (last.code == ErrorCode::TimedOut && !of_leader) return fail(last);
    pause = std::max(pause, answer.error().retry_after);
  }
}

template <typename Value>
Result<Value> Cluster::query(const Call<Value>& call) {
  return ask<Value>(false, Repeat::Read, call, options_.deadline);
}

template <typename Value>
Result<Value> Cluster::change(Repeat repeat, const Call<Value>& call) {
  return ask<Value>(true, repeat, call, options_.deadline);
}

/// A leader that loses its Term answers each item separately. A refused item goes to the next leader; a
/// stored item keeps its answer.
template <typename Item, typename Answer>
Result<std::vector<Answer>> Cluster::change_each(Repeat repeat, const std::vector<Item>& items,
                                                 const CallFor<Item, Answer>& call_for) {
  const MonoTime end = BootClock::now() + options_.deadline;
  std::vector<Answer> answers(items.size());
  std::vector<std::size_t> open(items.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  Millis left = options_.deadline;
  bool is_first = true;
  for (Millis pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    std::vector<Item> asked;
    for (const std::size_t place : open) asked.push_back(items[place]);
    auto some = ask<std::vector<Answer>>(true, repeat, call_for(asked), left);
    if (!some && is_first) return fail(some.error());
    if (!some) {  // an item that was certainly not stored before may be stored now
      for (const std::size_t place : open) answers[place].__set_error(rpc::to_wire(some.error()));
      return answers;
    }
    is_first = false;
    if (some->size() != asked.size()) {
      return fail(ErrorCode::Internal,
                  fmt::format("{} items were sent, {} answered", asked.size(), some->size()));
    }
    std::vector<std::size_t> again;
    for (std::size_t i = 0; i < open.size(); ++i) {
      Answer& answer = answers[open[i]] = std::move((*some)[i]);
      if (!answer.__isset.error) continue;
      const auto refusal = rpc::from_wire(answer.error);
      const bool unknown = refusal.error.retry == Retry::Unknown;
      if (refusal.error.retry != Retry::Later && !(unknown && repeat == Repeat::Harmless)) continue;
      again.push_back(open[i]);
      pause = std::max(pause, refusal.retry_after);
      if (refusal.error.code == ErrorCode::NotLeader) connection_->move_on(refusal.leader);
    }
    left = floor_ms(end - BootClock::now());
    if (again.empty() || left <= pause) return answers;
    open = std::move(again);
    std::this_thread::sleep_for(pause);
    left -= pause;
  }
}

}  // namespace rota::client
