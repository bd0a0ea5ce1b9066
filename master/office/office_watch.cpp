#include "master/office/office_watch.h"

#include "common/base/log.h"

namespace rota::master {
namespace {

constexpr Millis kEvery{500};

void stand_or_clear(OfficeState& state, Hurdle hurdle, const std::string& what,
                    const std::string& remedy = "") {
  what.empty() ? state.clear(hurdle) : state.report(hurdle, what, remedy);
}

/// Of the candidacy, by what is known of the leader.
void look_at_candidacy(const OfficeWatchParts& parts, OfficeState& state, Leads leads) {
  const cluster::Candidacy candidacy = parts.candidacy();
  stand_or_clear(state, Hurdle::Election, candidacy.trouble);
  const bool is_behind = leads == Leads::Nobody && candidacy.stands && !candidacy.predecessor.empty();
  stand_or_clear(state, Hurdle::Predecessor,
                 is_behind ? parts.describe(candidacy.predecessor) + ", which has not taken office" : "");
}

}  // namespace

void look_at_office(const OfficeWatchParts& parts, OfficeState& state) {
  const Leads leads = parts.leads();
  state.see(leads);
  const bool has_session = parts.has_session();
  stand_or_clear(state, Hurdle::Session, has_session ? "" : "this master has no connection with ZooKeeper",
                 "is it running, and zookeeper.connect right?");
  stand_or_clear(state, Hurdle::Database, leads == Leads::This ? "" : parts.database());
  if (has_session || !parts.stands_in_zookeeper) return look_at_candidacy(parts, state, leads);
  state.clear(Hurdle::Election);
  state.clear(Hurdle::Predecessor);
}

OfficeWatch::OfficeWatch(OfficeWatchParts parts, OfficeState& state)
    : parts_(std::move(parts)), state_(state), thread_([this](std::stop_token stop) { loop(stop); }) {}

void OfficeWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void OfficeWatch::tell() {
  std::string word = state_.word();
  if (word == told_) return;
  if (word == "ok") {
    log_info("office", "somebody leads, and nothing keeps this master from it");
  } else {
    log_error("office", "office is not in order", {{"why", word}});
  }
  told_ = std::move(word);
  parts_.changed();
}

void OfficeWatch::loop(std::stop_token stop) {
  while (!stop.stop_requested()) {
    look_at_office(parts_, state_);
    tell();
    std::unique_lock lock(mutex_);
    never_.wait_for(lock, stop, kEvery, [] { return false; });
  }
}

}  // namespace rota::master
