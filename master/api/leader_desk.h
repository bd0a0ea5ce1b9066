// How a method reaches the leader: through the loop of this process when it leads, else by one hop
// to the master that does.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "JobService.h"
#include "ReportService.h"
#include "common/rpc/channel_pool.h"
#include "master/api/leader_port.h"
#include "master/api/reply_table.h"

namespace rota::master::api {

/// Thread: any.
class LeaderDesk {
 public:
  /// Both outlive it.
  LeaderDesk(LeaderPort& port, ReplyTable& replies) : port_(port), replies_(replies) {}

  bool leads() const { return port_.leading().has_value(); }
  /// The epoch of the Term that leads now, if this master does.
  std::optional<Epoch> term() const { return port_.leading(); }

  /// Posts the event with a token and waits for its reply. An Error reply is an error here.
  template <typename Event>
  rpc::CallResult<core::ReplyBody> ask(Event event, MonoTime deadline) {
    auto token = post(std::move(event));
    if (!token) return tl::unexpected<rpc::CallError>(std::move(token.error()));
    return wait(*token, deadline);
  }

  /// The halves of ask(), for several events at once.
  template <typename Event>
  rpc::CallResult<Token> post(Event event) {
    const auto token = replies_.open();
    if (!token) return refused(token.error());
    event.token = *token;
    if (auto posted = port_.post(core::Event{std::move(event)}); !posted) {
      replies_.forget(*token);
      return refused(posted.error());
    }
    return *token;
  }
  rpc::CallResult<core::ReplyBody> wait(Token token, MonoTime deadline);

  /// "Not the leader", with its address as far as known.
  rpc::CallError not_leader() const;

  /// Calls the leader: `use(client)`. NotLeader when no other leader is known.
  template <typename Use>
  auto call_leader(Use&& use, MonoTime deadline) {
    return call_with(jobs_, std::forward<Use>(use), deadline);
  }
  /// Calls another master, whether it leads or not.
  template <typename Use>
  auto call_master(const model::Address& master, Use&& use, MonoTime deadline) {
    return jobs_.call(rpc::Endpoint{master.host, master.port}, std::forward<Use>(use),
                      floor_ms(deadline - BootClock::now()));
  }
  template <typename Use>
  auto call_leader_report(Use&& use, MonoTime deadline) {
    return call_with(reports_, std::forward<Use>(use), deadline);
  }

 private:
  static constexpr Millis kRetrySoon{50};

  tl::unexpected<rpc::CallError> refused(const Error& error) const;

  template <typename Client, typename Use>
  auto call_with(rpc::ChannelPool<Client>& pool, Use&& use, MonoTime deadline)
      -> rpc::CallResult<std::invoke_result_t<Use, Client&>> {
    const auto leader = leads() ? std::nullopt : port_.leader();
    if (!leader) return tl::unexpected<rpc::CallError>(not_leader());
    const Millis left = floor_ms(deadline - BootClock::now());
    return pool.call(rpc::Endpoint{leader->host, leader->port}, std::forward<Use>(use), left);
  }

  LeaderPort& port_;
  ReplyTable& replies_;
  rpc::ChannelPool<thrift::JobServiceClient> jobs_;
  rpc::ChannelPool<thrift::ReportServiceClient> reports_{rpc::PoolOptions{32, 16, Millis{20'000}}};
};

}  // namespace rota::master::api
