#include "worker/presence/presence.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/random.h"
#include "common/model/worker_json.h"
#include "common/zk/cluster_nodes.h"

namespace rota::worker::presence {

namespace {
constexpr std::string_view kChannel = "presence";
constexpr Millis kSettleEvery{50};
constexpr Millis kWithdrawPatience{2000};
}  // namespace

Presence::Presence(PresenceOptions options, PresenceParts parts, model::WorkerInfo info)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      paths_(options_.cluster),
      session_(parts_.make_client, options_.session),
      info_(std::move(info)) {}

Presence::~Presence() { stop(); }

void Presence::start() {
  zk::WriteBeatOptions beat;
  beat.folder = paths_.beats();
  beat.name = [this](zk::SessionId session) { return name_for(session); };
  beat.server_tick = options_.server_tick;
  beat.may_beat = [this] { return parts_.desk.may_claim_life(); };
  beat.answered = [this](const zk::Beat& answered) { on_beat(answered); };
  beat_ = std::make_unique<zk::WriteBeat>(session_, std::move(beat));
  zk::RegistrationCallbacks callbacks;
  callbacks.describe = [this](zk::SessionId session) { return describe(session); };
  callbacks.registered = [this](const zk::Registered& registered) { on_registered(registered); };
  callbacks.gone = [this](const std::string& why) { on_gone(why); };
  registration_ =
      std::make_unique<zk::Registration>(session_, paths_.workers(), std::move(callbacks));
  session_.start();
}

void Presence::stop() {
  if (registration_) {
    if (auto gone = registration_->withdraw(kWithdrawPatience); !gone) {
      log_warn(kChannel, "the node was not removed; it goes with the session",
               {{"why", gone.error().message}});
    }
  }
  registration_.reset();
  beat_.reset();
  session_.tasks().drop(this);
  session_.stop();
  registered_ = false;
}

void Presence::set_draining(const model::DrainAck& ack, std::optional<WallTime> stops_at) {
  {
    std::scoped_lock lock(mutex_);
    const model::DrainAck said{info_.draining, info_.drain_told == true, info_.drain_order.value_or(0)};
    if (said == ack && info_.stops_at == stops_at) return;
    info_.stops_at = stops_at;
    info_.draining = ack.draining;
    info_.drain_told = ack.told;
    info_.drain_order = ack.order;
  }
  write_node();
}

void Presence::set_vitals(const model::WorkerVitals& vitals) {
  {
    std::scoped_lock lock(mutex_);
    info_.vitals = vitals;
  }
  write_node();
}

void Presence::write_node() {
  std::string data;
  {
    std::scoped_lock lock(mutex_);
    if (auto json = model::to_json(info_)) data = *json;
  }
  if (registration_ && !data.empty()) registration_->set_data(data);
}

bool Presence::wait_registered(Millis at_most) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] { return registered_.load(); });
}

std::string Presence::new_incarnation() const { return options_.home + "-" + random_hex(8); }

/// The node name of this session's life, chosen when the session is new. Beat and registration ask.
std::string Presence::name_for(zk::SessionId session) {
  std::scoped_lock lock(mutex_);
  if (session != life_session_) {
    life_session_ = session;
    life_is_used_ = false;
    info_.key.incarnation = new_incarnation();
  }
  return model::node_name(info_.key);
}

zk::NodeToRegister Presence::describe(zk::SessionId session) {
  name_for(session);
  std::scoped_lock lock(mutex_);
  // Asked again in one session: somebody has deleted the node, which declared that life dead.
  if (life_is_used_) info_.key.incarnation = new_incarnation();
  life_is_used_ = true;
  if (const auto client = session_.client()) {
    info_.lease = zk::lease_length({client->session_timeout(), options_.server_tick});
  }
  parts_.desk.begin_life(info_.key);
  const auto json = model::to_json(info_);
  CHECK_OR_DIE(json.has_value(), "the worker's node was found to be short enough at the start");
  return {model::node_name(info_.key), *json};
}

void Presence::on_registered(const zk::Registered& registered) {
  standing_ = registered;
  settle(static_cast<int>(patience_with(registered.others) / kSettleEvery));
}

/// A node of this home most likely belongs to an earlier life of our own that is dead: this process holds
/// the folder's lock. When its session could not be stored (a full disk) nobody can end it, so it expires.
Millis Presence::patience_with(const std::vector<std::string>& others) const {
  const std::string own = "@" + options_.home + "-";
  const bool has_own = std::ranges::any_of(
      others, [&](const std::string& name) { return name.find(own) != std::string::npos; });
  if (!has_own) return options_.rival_patience;
  return options_.session.client.session_timeout + 4 * options_.server_tick + options_.rival_patience;
}

/// Ends what earlier lives left, makes sure that nobody else has this id, and reads the epoch. Only
/// then is the worker registered.
void Presence::settle(int tries) {
  if (standing_.session == 0) return;
  const auto ended = session_.end_earlier_sessions(zk::DeathProof::Caller);
  if (!ended) {
    log_warn(kChannel, "sessions of earlier lives are not ended yet",
             {{"why", ended.error().message}});
  }
  const bool alone = others_are_gone();
  if (!alone && ended && tries <= 0) {
    log_error(kChannel, "another worker with this id lives; this one leaves",
              {{"other", standing_.others.front()}});
    standing_ = {};
    registration_->withdraw_later();
    parts_.rival("another worker with the id '" + info_.key.id + "' is registered");
    return;
  }
  if (alone && read_cluster()) {
    if (last_beat_.session == standing_.session) parts_.desk.extend_lease(last_beat_.lease_end);
    {
      std::scoped_lock lock(mutex_);
      registered_ = true;
    }
    changed_.notify_all();
    return;
  }
  session_.tasks().post_after(this, kSettleEvery,
                              [this, tries, ended = ended.has_value()] {
                                settle(ended ? tries - 1 : tries);
                              });
}

bool Presence::others_are_gone() {
  if (standing_.others.empty()) return true;
  const auto client = session_.client();
  if (!client) return false;
  for (const std::string& name : standing_.others) {
    const auto node = client->exists(paths_.workers() + "/" + name, zk::Watch::No);
    if (!node || (node->has_value() && (*node)->ephemeral_owner != 0)) return false;
  }
  return true;
}

bool Presence::read_cluster() {
  const auto client = session_.client();
  if (!client) return false;
  const auto uuid = zk::read_cluster_uuid(*client, paths_);
  const auto epoch = zk::read_epoch(*client, paths_);
  if (!uuid || !epoch) return false;
  const std::string known = uuid->value_or("");
  parts_.desk.set_cluster(known);
  if (known.empty()) return true;  // no master has ever led this cluster
  const auto raised = parts_.desk.raise_epoch(known, epoch->epoch);
  if (!raised) {
    log_error(kChannel, "the epoch cannot be stored", {{"why", raised.error().message}});
  }
  return raised.has_value();
}

void Presence::on_gone(const std::string& why) {
  standing_ = {};
  registered_ = false;
  log_warn(kChannel, "no longer registered", {{"why", why}});
}

void Presence::on_beat(const zk::Beat& beat) {
  last_beat_ = beat;
  if (registered_ && standing_.session == beat.session) parts_.desk.extend_lease(beat.lease_end);
}

}  // namespace rota::worker::presence
