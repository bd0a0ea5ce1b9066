#include "common/zk/named_locks.h"
#include "worker/worker.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <set>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/random.h"
#include "common/base/size_text.h"
#include "common/model/worker_json.h"
#include "worker/api/service_adapters.h"
#include "common/zk/real_client.h"

namespace rota::worker {

namespace {

constexpr Millis kLoopLimit{5000};         // an older turn of the runner stops the heartbeat
constexpr Millis kHomePatience{10'000};    // for the last reports, when it ends
constexpr int kServiceThreads = 8;

bool is_home_name(const std::string& text) {
  return text.size() == 8 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// By its path, so that a program that was exchanged on disk runs handlers in its new form.
std::string own_program() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size <= 0 ? std::string() : std::string(path, static_cast<std::size_t>(size));
}

static_assert(config::kMaxOfferName == model::kMaxAmountName && config::kMaxOffer == model::kMaxAmount &&
              config::kMaxOffers == model::kMaxAmounts);

/// They were checked when they were read.
model::Amounts offers_in(const config::WorkerOptions& options) {
  model::Amounts offers;
  for (const auto& [name, text] : options.offers) offers[name] = parse_size(text).value_or(0);
  return offers;
}

sdk::LockAddress lock_address(const config::WorkerOptions& options) {
  return {options.zookeeper.connect, options.cluster, options.zookeeper.session_timeout};
}

run::RunnerOptions runner_options(const config::WorkerOptions& options, sdk::LockService* locks) {
  run::RunnerOptions wanted;
  wanted.slots = options.slots;
  wanted.output.cap_bytes = options.output.cap_bytes;
  wanted.output.chunk_bytes = options.output.log_chunk_bytes;
  wanted.output.chunk_age = options.output.log_chunk;
  wanted.work_dir = options.work_dir;
  wanted.program = own_program();
  wanted.lock_address = lock_address(options);
  wanted.locks = locks;
  wanted.notes_dir = options.state_dir + "/notes";
  wanted.cleanups_dir = options.state_dir + "/cleanups";
  wanted.environment = run::environment_base(options.job_environment, environ);
  wanted.environment.allowed["ROTA_ZOOKEEPER"] = options.zookeeper.connect;  // for rota in a job
  wanted.environment.allowed["ROTA_CLUSTER"] = options.cluster;
  wanted.run_as_users = options.run_as_users;
  // The kernel is about to end this process as well; nothing may be done in its last moment.
  wanted.warden_gone = [] { ::_exit(kFailed); };
  return wanted;
}

report::ReporterOptions reporter_options(const config::WorkerOptions& options) {
  report::ReporterOptions wanted;
  wanted.outbox_file = options.state_dir + "/outbox";
  wanted.outbox_limit_bytes = options.outbox_limit_bytes;
  wanted.rpc_deadline = options.rpc_deadline;
  return wanted;
}

}  // namespace

Worker::Worker(config::WorkerOptions options, const sdk::Registry& registry,
               std::unique_ptr<warden::WardenClient> warden)
    : options_(std::move(options)),
      registry_(registry),
      warden_(std::move(warden)),
      heartbeat_(options_.heartbeat_file),
      epochs_(options_.state_dir + "/epoch"),
      spool_(options_.state_dir + "/spool", options_.output.spool_limit_bytes),
      reporter_(reporter_options(options_), leader_, [this] { return desk_.life(); }),
      locks_(zk::make_locks(lock_address(options_))),
      desk_(desk::TableLimits{.slots = options_.slots, .offers = offers_in(options_)},
            {runner_, reporter_, epochs_, leader_, clock_,
             [this](const model::DrainAck& ack, std::optional<WallTime> hands_over_at) {
               if (presence_) presence_->set_draining(ack, hands_over_at);
             }}),
      runner_(runner_options(options_, locks_.get()), *warden_, registry_, spool_, clock_),
      shipper_({.rpc_deadline = options_.rpc_deadline}, spool_, leader_),
      vitals_(options_.state_dir) {}

Worker::~Worker() { stop(); }

Result<void> Worker::start() {
  auto lock = FolderLock::take(options_.state_dir);
  if (!lock) return fail(lock.error());
  lock_.emplace(std::move(*lock));
  if (auto done = name_home(); !done) return done;
  if (auto done = recover(); !done) return done;
  if (auto done = serve(); !done) return done;
  join_cluster();
  return open_pages();
}

/// Names the state folder, once. A folder that was copied to another host keeps its
/// name, which is why docs/operating.md forbids that.
Result<void> Worker::name_home() {
  const std::string path = options_.state_dir + "/home";
  if (auto kept = read_file(path); kept && is_home_name(*kept)) {
    home_ = std::move(*kept);
    return {};
  }
  home_ = random_hex(4);
  return write_file_synced(path, home_);
}

Result<void> Worker::recover() {
  if (auto made = make_folders(options_.state_dir + "/spool", 0700); !made) return made;
  if (auto loaded = epochs_.load(); !loaded) return loaded;
  if (auto opened = reporter_.open(); !opened) return opened;
  if (auto read = spool_.recover(); !read) return read;
  const auto unreported = reporter_.unreported();
  reporter_.start(
      [this](const std::vector<model::AttemptReport>& reports) { desk_.stored(reports); },
      [this](const std::vector<model::AttemptKey>& keys) { desk_.acknowledged(keys); });
  if (auto opened = desk_.open(unreported); !opened) return opened;
  std::set<model::AttemptKey> held;
  for (const auto& attempt : desk_.inventory().attempts) held.insert(attempt.key);
  spool_.release_all_but(held);
  log_info("worker", "took over from the previous life",
           {{"running", desk_.busy()}, {"to_report", unreported.size()}});
  return {};
}

Result<void> Worker::serve() {
  api::ServiceParts parts{desk_, [this](Millis at_most) {
                            return presence_ && presence_->wait_registered(at_most);
                          }};
  auto service = std::make_shared<api::WorkerServiceHandler>(std::move(parts));
  rpc::ServerOptions options;
  options.host = options_.listen.host;
  options.port = options_.listen.port;
  options.name = "worker";
  options.threads = kServiceThreads;
  server_ = std::make_unique<rpc::Server>(api::make_processors(std::move(service)), options);
  return server_->start();
}

model::WorkerInfo Worker::info() const {
  model::WorkerInfo info;
  info.key.id = options_.id;
  info.address = {options_.advertise.host, server_->port()};
  info.pool = options_.pool;
  info.labels = options_.labels;
  info.slots = options_.slots;
  info.offers = offers_in(options_);
  info.weight = options_.weight;
  info.rank = options_.rank;
  info.version = ROTA_VERSION;
  info.kill_means = runner_.kill_means();
  info.kernel_limits = runner_.kernel_limits();
  info.start = runner_.warden_start();
  info.handlers = registry_.names();
  info.handlers.insert(info.handlers.begin(), "command");
  info.started = clock_.wall();
  info.drain_told = false;
  info.drain_order = 0;
  return info;
}

void Worker::join_cluster() {
  presence::PresenceOptions options;
  options.cluster = options_.cluster;
  options.home = home_;
  options.server_tick = options_.zookeeper.server_tick;
  options.session.client.addresses = options_.zookeeper.connect;
  options.session.client.session_timeout = options_.zookeeper.session_timeout;
  options.session.session_file = options_.state_dir + "/session";
  presence::PresenceParts parts{zk::make_real_client, desk_,
                                [this](const std::string&) { rival_ = true; }};
  presence_ = std::make_unique<presence::Presence>(std::move(options), std::move(parts), info());
  presence_->start();
  shipper_.start();
  presence::RenewOptions renew;
  renew.every = options_.renew_every;
  renew.rpc_deadline = options_.rpc_deadline;
  presence::RenewParts claims;
  claims.life = [this] { return desk_.life(); };
  claims.vouched = [this](MonoTime sent, Millis grant) { desk_.extend_grant(sent, grant); };
  claims.may_renew = [this] { return desk_.may_claim_life(); };
  claims.figures = [this] { return figures(); };
  renew_ = std::make_unique<presence::RenewLoop>(renew, std::move(claims), leader_);
  renew_->start();
}

presence::Figures Worker::figures() {
  constexpr std::size_t kMost = 200;  // so that a renewal costs the same, however many run
  presence::Figures figures;
  {
    std::scoped_lock lock(seen_mutex_);
    if (seen_vitals_.sampled == WallTime{}) return figures;
    figures.vitals = seen_vitals_;
    figures.vitals_age = floor_ms(clock_.mono() - seen_at_);
  }
  const run::SetSampler::Part part = runner_.usage(told_through_, kMost);
  told_through_ = part.through;
  figures.has_part_of_attempts = !part.has_all;
  for (const run::SetSampler::Seen& seen : part.seen) {
    model::AttemptUsage usage;
    usage.key = seen.key;
    usage.cpu_us = Micros{seen.usage.cpu}.count();
    usage.memory_bytes = seen.usage.memory_bytes;
    usage.processes = seen.usage.processes;
    usage.cpu_percent = seen.cpu_percent;
    figures.attempts.push_back({usage, floor_ms(clock_.mono() - seen.at)});
  }
  return figures;
}

bool Worker::is_turning() const { return clock_.mono() - runner_.last_turn() < kLoopLimit; }

std::optional<int> Worker::turn() {
  if (is_turning()) heartbeat_.beat(draining_ ? "draining" : "turning", clock_.mono());
  look_at_vitals(clock_.now());
  if (rival_) return kWrongConfiguration;
  if (!draining_) return std::nullopt;
  if (desk_.busy() == 0) return kDone;
  if (!has_handed_over_ && clock_.mono() >= drain_deadline_) {
    log_warn("worker", "the drain deadline is over; attempts are handed over",
             {{"attempts", desk_.busy()}});
    has_handed_over_ = true;
    desk_.hand_over();
  }
  return std::nullopt;
}

void Worker::drain() {
  drain_deadline_ = draining_ ? clock_.mono() : clock_.mono() + options_.drain_deadline;
  draining_ = true;
  desk_.stop_accepting(clock_.wall() + floor_ms(drain_deadline_ - clock_.mono()));
}

bool Worker::stop() {
  if (draining_ && !rival_ && !reporter_.wait_home(kHomePatience)) {
    log_warn("worker", "outcomes stay in the outbox until this worker starts again",
             {{"outcomes", reporter_.waiting()}});
  }
  const MonoTime deadline = clock_.mono() + kHomePatience;
  while (draining_ && !rival_ && spool_.streams() > 0 && clock_.mono() < deadline) {
    if (!spool_.wait_home(Millis{100})) heartbeat_.beat("draining", clock_.mono());
  }
  if (pages_) pages_->stop();
  if (renew_) renew_->stop();
  if (presence_) presence_->stop();
  if (server_) server_->stop();
  shipper_.stop();
  const bool has_ended = runner_.stop();
  reporter_.stop();
  return has_ended;
}

}  // namespace rota::worker
