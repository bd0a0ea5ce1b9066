#include "master/master.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/zk/real_client.h"
#include "master/electors.h"
#include "master/core/time/hold_rules.h"
#include "master/office/master_node.h"
#include "master/upkeep/tick_hold.h"

namespace rota::master {
namespace {

constexpr Millis kBeatEvery{500};
constexpr Millis kReadAheadPause{5};
constexpr Millis kNoteEvery{900};
constexpr Millis kOfficeCheckEvery{10'000};
constexpr std::size_t kLongestVerdict = 500;

zk::SessionOptions session_options(const config::MasterOptions& options) {
  zk::SessionOptions wanted;
  wanted.client.addresses = options.zookeeper.connect;
  wanted.client.session_timeout = options.zookeeper.session_timeout;
  wanted.session_file = options.state_dir + "/session";
  return wanted;
}

loop::InboxLimits inbox_limits(const model::Settings& settings) {
  const auto events = static_cast<std::size_t>(settings.inbox_events);
  return {events, events};
}

/// `file`: what was set since is read with the rest (Recovered::settings), and put over it.
TermOptions term_options(const config::MasterOptions& options, const model::Settings& file) {
  TermOptions wanted;
  static_cast<model::Settings&>(wanted.core) = file;
  wanted.core.grant = options.grant;
  wanted.loop.store_give_up = options.store_give_up;
  wanted.loop.events_per_turn = static_cast<std::size_t>(options.max_batch_events);
  return wanted;
}

DatabaseWatchOptions database_options(const config::MasterOptions& options) {
  DatabaseWatchOptions wanted;
  wanted.give_up = options.store_give_up;
  return wanted;
}

}  // namespace

Master::Master(const config::MasterOptions& options, const std::string& database_password)
    : options_(options),
      password_(database_password),
      paths_(options.cluster),
      own_figures_(options.state_dir, ROTA_VERSION, clock_),
      heartbeat_(options.heartbeat_file),
      services_(std::make_unique<Services>(options, database_password, *this)),
      session_(zk::make_real_client, session_options(options)),
      election_(mysql_options(options.database, database_password)),
      in_force_(options.elector, [this] { return election_.elector(); }),
      clock_note_(paths_, options.id) {
  services_->settings().listen([this](const model::Settings& now) {
    std::shared_lock lock(term_mutex_);
    if (term_) term_->set_inbox_limits(inbox_limits(now));
  });
}

Master::~Master() { stop(); }

Result<void> Master::start() {
  elector_ = make_elector(options_, ElectorParts{session_, paths_, clock_, *this, password_});
  database_ = std::make_unique<DatabaseWatch>(
      database_options(options_), services_->prepare_database(),
      [this, database = services_->probe_database()] { return probe(database); },
      [this](bool good) {
        log_info("election", good ? "the database answers: may stand" : "does not stand: no database");
        database_good_ = good;
        good ? stand() : elector_->resign();
      });
  // The API's threads may ask for all that was made above.
  if (auto started = services_->start(); !started) return started;
  zk::RegistrationCallbacks callbacks;
  callbacks.describe = [this](zk::SessionId id) { return registration_of(id); };
  callbacks.registered = [](const zk::Registered&) {};
  callbacks.gone = [](const std::string&) {};
  registration_ = std::make_unique<zk::Registration>(session_, paths_.masters(), callbacks);
  session_.start();
  last_beat_ = BootClock::now();
  self_check_ = make_self_check();
  self_check_->start();
  office_watch_ = std::make_unique<OfficeWatch>(office_parts(), office_state_);
  if (auto opened = open_pages(); !opened) return opened;
  office_ = std::jthread([this](std::stop_token stop) { hold_office(stop); });
  return {};
}

void Master::stop() {
  if (stopped_.exchange(true)) return;
  if (pages_) pages_->stop();
  if (office_watch_) office_watch_->stop();
  if (self_check_) self_check_->stop();
  if (database_) database_->stop();
  office_.request_stop();
  changed_.notify_all();
  if (office_.joinable()) office_.join();
  registration_.reset();
  if (elector_) elector_->stop();
  session_.stop();  // its nodes go at once: the successor takes office within milliseconds
  services_->stop();
}

zk::NodeToRegister Master::registration_of(zk::SessionId) const {
  return zk::NodeToRegister{options_.id, node_data()};
}

std::string Master::node_data() const {
  api::MasterView self{options_.id, own_address()};
  self.knows_slices = true;
  self.database = services_->database_in_use();
  self.knows_contents = true;
  self.knows_late_rows = true;
  self.knows_worker_starts = true;
  self.knows_child_runs = true;
  self.page = page_address({options_.http.host, options_.http.port}, options_.advertise.host);
  std::scoped_lock lock(verdict_mutex_);
  self.health = clean_text(verdict_, kLongestVerdict);
  return node_text(self, options_.elector);
}

std::unique_ptr<SelfCheck> Master::make_self_check() {
  SelfCheckParts parts;
  parts.folder = options_.state_dir;
  parts.servers = [this] { return servers_health(); };
  parts.clock = [this] { return services_->tick_clock().doubt(); };
  parts.waiting_events = [this] {
    const auto seen = snapshot();
    return seen ? seen->tallies.inbox_events : 0;
  };
  parts.most_events = [this] { return services_->settings().values().inbox_events; };
  parts.masters = [this] { return masters(); };
  parts.look_at_figures = [this] { own_figures_.look(); };
  parts.tell = [this](const std::string& verdict) {
    {
      std::scoped_lock lock(verdict_mutex_);
      verdict_ = verdict;
    }
    registration_->set_data(node_data());
  };
  return std::make_unique<SelfCheck>(std::move(parts));
}

model::Address Master::own_address() const {
  return model::Address{options_.advertise.host, services_->port()};
}

// --- office -------------------------------------------------------------------------------------

void Master::elected() {
  log_info("election", "is first");
  std::scoped_lock lock(mutex_);
  elected_ = true;
  changed_.notify_all();
}

void Master::lost(std::string_view why) {
  log_info("election", "is no longer known to be first", {{"why", std::string(why)}});
  std::scoped_lock lock(mutex_);
  elected_ = false;
}

bool Master::wait_elected(std::stop_token stop, Millis at_most) {
  std::unique_lock lock(mutex_);
  const auto may_try = [this] { return elected_ && elector_->is_first(); };
  changed_.wait_for(lock, stop, at_most, may_try);
  return may_try() && !stop.stop_requested();
}

void Master::beat(const char* word) {
  const MonoTime now = BootClock::now();
  last_beat_ = now;
  heartbeat_.beat(word, now);
}

/// Empty while the process makes progress; what the watchdog would see from the heartbeat's file.
std::string Master::standstill() const {
  return standstill_of(BootClock::now(), last_beat_, self_check_->last().looked, options_.hang_limit);
}

void Master::hold_office(std::stop_token stop) {
  bool is_behind = false;
  while (!stop.stop_requested()) {
    beat("waiting for office");
    if (wait_elected(stop, is_behind ? kReadAheadPause : kBeatEvery)) {
      try_to_lead(stop);
    } else if (!stop.stop_requested()) {
      is_behind = database_->why_not().empty() && services_->office().read_ahead(BootClock::now());
    }
  }
}

void Master::try_to_lead(std::stop_token stop) {
  const MonoTime begun = BootClock::now();
  office_state_.begin_takeover();
  auto client = session_.client();
  auto office = client ? enter_office(*client, paths_, services_->office(), candidate())
                       : Result<Office>(fail(ErrorCode::Unavailable, "no ZooKeeper session"));
  office_state_.end_takeover();
  if (office) {
    office_state_.clear(Hurdle::Takeover);
    office_state_.clear(Hurdle::Cluster);
    held_off_.clear();
    log_info("term", "took office",
             {{"epoch", office->epoch.value},
              {"jobs", office->recovered.jobs.size()},
              {"unfinished_runs", office->recovered.runs.size()},
              {"before_claim_ms", office->took.before.count()},
              {"claim_ms", office->took.claim.count()},
              {"load_ms", office->took.load.count()},
              {"ms", floor_ms(BootClock::now() - begun).count()}});
    pacing_.after_success();
    lead(std::move(*office), stop);
    return;
  }
  go_on_after(office.error(), stop);
}

void Master::go_on_after(const Error& failure, std::stop_token stop) {
  const TakeoverPacing::Next next = pacing_.after_failure(failure.code, BootClock::now());
  if (failure.code == ErrorCode::Fenced) {
    hold_off(failure.message);
  } else if (failure.code == ErrorCode::Unsupported) {  // of this host, whoever leads meanwhile
    office_state_.report(Hurdle::Takeover, failure.message,
                         "set that right on this host, then restart this master");
  } else {
    office_state_.clear(Hurdle::Cluster);
    office_state_.report_passing(Hurdle::Takeover, failure.message);
  }
  if (!TakeoverPacing::may_pass(failure.code)) database_->prepare_again();
  if (next.steps_back) stand_back();
  pause(stop, next.pause);
  if (next.steps_back && database_->why_not().empty()) stand();
}

void Master::pause(std::stop_token stop, Millis for_so_long) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, for_so_long, [] { return false; });
}

void Master::lead(Office office, std::stop_token stop) {
  const loop::TermEnd end = run_term(std::move(office), stop);
  after_term(end);
}

loop::TermEnd Master::run_term(Office office, std::stop_token stop) {
  const Epoch epoch = office.epoch;
  const TermParts parts{session_, paths_, services_->store(), services_->sender(),
                        services_->reply_to(), services_->tick_clock(),
                        [this](const model::Notification& row) { send_notification(row); },
                        [this](const auto& rows) { services_->settings().put(rows); },
                        [this](const model::ScaleChange& row) { call_hook(row); }};
  services_->settings().begin(office.recovered.settings);
  restored_ = office.recovered.database_went_back;
  services_->begin_term(epoch, office.cluster_uuid, own_address());
  TermOptions wanted = term_options(options_, services_->settings().file().values);
  wanted.inbox = inbox_limits(services_->settings().values());
  // All that is due fires in the first turn: a hold that is told with the next look would come too late.
  wanted.core.tick_hold = reason_to_hold(restored_, services_->tick_clock().doubt());
  began_held_ = !wanted.core.tick_hold.empty();
  wanted.core.receivers = services_->notifier().rules();
  wanted.core.hooks = services_->hooks().names();
  wanted.core.all_know_slices = slices_.begin_term(session_.client().get(), paths_);
  const MonoTime begun = BootClock::now();
  auto term = std::make_unique<Term>(std::move(office), parts, wanted);
  Term& running = *term;
  log_debug("term", "knows its jobs and runs",
            {{"epoch", epoch.value}, {"ms", floor_ms(BootClock::now() - begun).count()}});
  {
    std::unique_lock lock(term_mutex_);
    term_ = std::move(term);
  }
  elector_->publish(cluster::LeaderHint{epoch, own_address().host, own_address().port});
  if (auto client = session_.client()) (void)note_stored(*client, paths_, {epoch, std::nullopt});
  const loop::TermEnd end = running.run(
      stop, [this](const char* word) { beat(word); });
  elector_->withdraw_hint();
  services_->end_term();
  log_info("term", "ended",
           {{"epoch", epoch.value},
            {"why", std::string(loop::name_of(end.why))},
            {"detail", end.detail},
            {"found_epoch", end.found.value},
            {"batches", running.counters().batches.load()},
            {"reruns", running.counters().reruns.load()},
            {"stale_refused", running.counters().stale_refused.load()}});
  last_stored_ = running.stored();
  std::unique_ptr<Term> over;
  {
    std::unique_lock lock(term_mutex_);
    over = std::move(term_);
  }
  return end;
}

void Master::after_term(const loop::TermEnd& end) {
  using Why = loop::TermEnd::Why;
  if (end.why == Why::StoreLost) {
    stand_back();  // at once: or this very master might take office again before the watch says so
    database_->report_lost();
  }
  if (end.why == Why::StoreLost || end.why == Why::Contradicted) {
    office_state_.report_passing(Hurdle::Takeover, "its last Term ended: " + end.detail);
  }
  if (end.why == Why::Fenced || end.why == Why::HigherEpoch) rejoin();
  if (end.database_went_back) raise_alarm();
  if (end.why == Why::Contradicted) {
    log_error("term", "the store contradicts this Term; the next one reads what stands",
              {{"why", end.detail}});
    rejoin();
  }
}

/// Before anybody else takes office: only this master knows all that was lost.
void Master::raise_alarm() {
  const auto client = session_.client();
  auto raised = client ? raise_restore_alarm(*client, paths_, last_stored_.epoch)
                       : Result<void>(fail(ErrorCode::Unavailable, "no ZooKeeper session"));
  if (raised) return;
  log_error("term", "could not note that the database went back; the next takeover sees it, unless less "
            "than a second is lost", {{"why", raised.error().message}});
}

// --- holding the ticks --------------------------------------------------------------------------
Result<void> Master::probe(const DatabaseWatch::Probe& database) {
  auto answer = database();
  follow_clock();
  tell_hold(answer.has_value());
  tell_slices();
  tell_no_leader();
  zones_.read_some();
  if (answer) answer = look_at_elector();
  tell_database();
  if (!answer || leading()) return answer;
  const MonoTime now = BootClock::now();
  if (now - checked_at_ < kOfficeCheckEvery) return answer;
  checked_at_ = now;
  return services_->check_office();
}

/// For `rota cluster status`, which asks any master. With a session the registration is there.
void Master::tell_database() {
  std::string in_use = services_->database_in_use();
  if (in_use == told_database_ || !session_.is_connected()) return;
  if (!told_database_.empty()) {
    log_warn("database", "another server is in use now", {{"server", in_use}, {"before", told_database_}});
  }
  told_database_ = std::move(in_use);
  registration_->set_data(node_data());
}

/// Whoever leads or may lead: the hold is this process's own, and so is the word that ends it.
void Master::follow_clock() {
  const ClockDoubt doubt = services_->tick_clock().doubt();
  const auto client = session_.is_connected() ? session_.client() : nullptr;
  if (!client || !clock_note_.follow(*client, doubt.step)) return;
  log_warn("clock", "accepted by an operator", {{"was", words_of(*doubt.step)}});
  services_->accept_clock();
}

/// Tells the present Term why its ticks are held, once for each change.
void Master::tell_hold(bool database_answers) {
  const auto term = leading();
  if (!term) return;
  if (const auto client = session_.client()) look_at_cluster(*client, *term, database_answers);
  ahead_notice_.look(snapshot().get(), services_->tick_clock().wall());
  std::string why = reason_to_hold(restored_, services_->tick_clock().doubt());
  if (told_for_ != term) {
    told_for_ = term;
    told_hold_ = began_held_ ? "its own words" : "";
  }
  if (told_hold_ == why || !post(core::HoldTicks{why})) return;
  if (why.empty()) {
    log_info("term", "ticks are not held any more");
  } else {
    log_error("term", "ticks are held", {{"why", why}});
  }
  told_hold_ = std::move(why);
}

/// Whether the present Term may part a moment that is too much for one batch, when that has changed.
void Master::tell_slices() {
  const auto client = leading() ? session_.client() : nullptr;
  const auto changed = client ? slices_.changed(*client, paths_, BootClock::now()) : std::nullopt;
  if (changed) (void)post(core::MastersSeen{*changed});
}

// --- LeaderPort ---------------------------------------------------------------------------------

std::optional<Epoch> Master::leading() const {
  std::shared_lock lock(term_mutex_);
  return term_ ? std::optional(term_->epoch()) : std::nullopt;
}

/// So that a successor notices a database that lost more than the last second. From the moment at which a
/// restored one is accepted, this is what it was led with.
void Master::note_progress(zk::Client& client) {
  const MonoTime now = BootClock::now();
  if (restored_ || !session_.is_connected() || now - noted_at_ < kNoteEvery) return;
  noted_at_ = now;
  (void)note_stored(client, paths_, stored());
}

StoredMark Master::stored() const {
  std::shared_lock lock(term_mutex_);
  return term_ ? term_->stored() : StoredMark{};
}

Result<void> Master::post(core::Event event) {
  std::shared_lock lock(term_mutex_);
  if (!term_) return fail(ErrorCode::NotLeader, "this master does not lead");
  return term_->post(std::move(event));
}

std::optional<model::Address> Master::leader() const {
  if (leading()) return own_address();
  const auto found = elector_->leader();
  if (!found) return std::nullopt;
  return model::Address{found->host, found->port};
}

std::shared_ptr<const core::Snapshot> Master::snapshot() const {
  std::shared_lock lock(term_mutex_);
  return term_ ? term_->snapshot() : nullptr;
}

std::vector<api::MasterView> Master::masters() const {
  std::vector<api::MasterView> views;
  const auto leader_address = leader();
  const auto client = session_.client();
  auto names = client ? client->list(paths_.masters(), zk::Watch::No)
                      : Result<std::vector<std::string>>();
  std::vector<std::string> nodes;
  if (names) {
    for (const std::string& name : *names) nodes.push_back(paths_.masters() + "/" + name);
  }
  if (client) {
    for (const auto& node : client->get_many(nodes, zk::Watch::No)) {
      if (node && node->stat.ephemeral_owner != 0) views.push_back(master_in(node->data));
    }
  }
  if (views.empty()) views.push_back(api::MasterView{options_.id, own_address(), false});
  for (api::MasterView& view : views) {
    view.leads = leader_address && view.address == *leader_address;
    if (view.id == options_.id) view.database = services_->database_in_use();
  }
  return views;
}

}  // namespace rota::master
