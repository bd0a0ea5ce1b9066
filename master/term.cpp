#include "master/term.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/base/log_one_of_many.h"
#include "common/model/worker_json.h"

namespace rota::master {
namespace {

/// Where ZooKeeper's data were lost nobody's absence means anything until the longest worker session
/// must have ended or come back.
constexpr Millis kForgottenZooKeeper{40'000};

core::CoreOptions core_options(const Office& office, core::CoreOptions options) {
  options.older_grant = office.longest_grant;
  if (office.zookeeper_is_new) options.grant = std::max(options.grant, kForgottenZooKeeper);
  return options;
}

/// So that ticks recorded late can be explained.
void tell_delay(const loop::Delay& delay) {
  const bool by_store = delay.of == loop::Delay::Of::Store;
  log_warn("loop", by_store ? "the database took long to store a batch; ticks meanwhile are recorded late"
                            : "this process was not run when it was due; ticks meanwhile are recorded late",
           {{"longest_ms", delay.longest.count()}, {"times", delay.times}});
}

/// What comes and goes, is lost and is edited, for who reads the leader's log.
void log_notice(const core::Notice& notice) {
  std::vector<OwnedLogKey> keys;
  keys.reserve(notice.keys.size());
  for (const auto& [name, value] : notice.keys) keys.push_back({std::string(name), value, false});
  const Severity level = notice.is_warning ? Severity::Warn : Severity::Info;
  log_one_of_many("term", level, notice.sentence, std::move(keys));
}

/// A bug of Rota's own: what is needed to find it.
void log_violation(const core::Violation& violation) {
  log_one_of_many("term", Severity::Error, "an invariant of the scheduler is broken; please report this line",
                  {{"what", violation.what, false}, {"around", violation.around, false}});
}

}  // namespace

Term::Term(Office office, const TermParts& parts, const TermOptions& options)
    : epoch_(office.epoch),
      cluster_uuid_(office.cluster_uuid),
      inbox_(options.inbox),
      scheduler_(office.epoch, core_options(office, options.core), std::move(office.recovered),
                 parts.clock.now()),
      storing_(parts.store, [this] { inbox_.wake(); }),
      loop_(office.epoch,
            loop::LoopParts{scheduler_, parts.store, parts.sender, parts.reply, parts.clock, inbox_,
                            [this](std::int64_t asked) { watch_.confirm(asked); },
                            tell_delay,
                            [this](const model::WorkerKey& key) { beats_.watch(model::node_name(key)); },
                            log_notice,
                            log_violation,
                            &storing_,
                            parts.notify, parts.settings, parts.call_hook},
            options.loop),
      watch_(parts.session, parts.paths, callbacks()),
      beats_(parts.session, parts.paths.beats(), [this](const std::string& node, MonoTime last_before) {
        tell_end_of_beats(node, last_before);
      }) {}

void Term::tell_end_of_beats(const std::string& node, MonoTime last_before) {
  if (const auto key = model::worker_key_in(node)) (void)inbox_.post(core::BeatsEnded{*key, last_before});
}

cluster::WorkerWatchCallbacks Term::callbacks() {
  // The inlet for cluster state is never full; a closed inbox means that this Term is over.
  const auto post = [this](core::Event event) { (void)inbox_.post(std::move(event)); };
  cluster::WorkerWatchCallbacks callbacks;
  callbacks.appeared = [post](const model::WorkerInfo& info) { post(core::WorkerSeen{info}); };
  callbacks.changed = callbacks.appeared;
  callbacks.vanished = [post](const model::WorkerKey& key) { post(core::WorkerGone{key}); };
  callbacks.synced = [post] { post(core::WorkersListed{}); };
  callbacks.confirmed = [post](std::int64_t asked) { post(core::WorkersListed{asked}); };
  return callbacks;
}

}  // namespace rota::master
