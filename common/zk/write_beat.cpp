#include "common/zk/write_beat.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/zk/paths.h"

namespace rota::zk {

namespace {
constexpr Millis kBeatRetry{100};
}

WriteBeat::WriteBeat(Session& session, WriteBeatOptions options)
    : session_(session), options_(std::move(options)) {
  session_.attach(*this);
}

WriteBeat::~WriteBeat() { session_.detach(*this); }

void WriteBeat::session_began(Client& client) {
  timing_ = LeaseTiming{client.session_timeout(), options_.server_tick};
  if (!lease_is_possible(timing_)) {
    log_error("zk", "the session is too short for a lease",
              {{"session_ms", timing_.session.count()}, {"tick_ms", timing_.server_tick.count()}});
  }
  path_ = options_.folder + "/" + options_.name(client.session_id());
  lease_end_ = MonoTime{};
  exists_ = false;
  beat(client);
}

void WriteBeat::session_resumed(Client& client) { beat(client); }

void WriteBeat::session_ended() { ++round_; }

void WriteBeat::beat(Client& client) {
  ++round_;  // one chain of beats only
  const MonoTime sent = BootClock::now();
  if (options_.may_beat && !options_.may_beat()) return beat_again(sent, beat_interval(timing_));
  const auto written = write(client);
  if (!written) {
    log_debug("zk", "beat not answered", {{"error", written.error().message}});
    return beat_again(BootClock::now(), std::min(kBeatRetry, beat_interval(timing_)));
  }
  lease_end_ = extend_lease(lease_end_, sent, timing_);
  if (options_.answered) options_.answered(Beat{client.session_id(), lease_end_});
  beat_again(sent, beat_interval(timing_));
}

/// Any answered write proves the session at its send time. So a second write within one call can only
/// make the lease shorter than possible.
Result<void> WriteBeat::write(Client& client) {
  if (exists_) {
    const auto set = client.set(path_, std::to_string(round_));
    if (set) return {};
    if (set.error().code != ErrorCode::NotFound) return fail(set.error());
    exists_ = false;
  }
  auto made = client.create(path_, std::to_string(round_), CreateMode::Ephemeral);
  if (!made && made.error().code == ErrorCode::NotFound) {
    if (auto folder = ensure_folder(client, options_.folder); !folder) return folder;
    made = client.create(path_, std::to_string(round_), CreateMode::Ephemeral);
  }
  exists_ = made || made.error().code == ErrorCode::AlreadyExists;
  if (made) return {};
  return fail(made.error());
}

void WriteBeat::beat_again(MonoTime sent, Millis after) {
  const auto left = std::max(Micros{0}, Micros{sent + after - BootClock::now()});
  session_.tasks().post_after(this, floor_ms(left), [this, round = round_] {
    if (round != round_) return;
    if (const auto client = session_.client()) beat(*client);
  });
}

}  // namespace rota::zk
