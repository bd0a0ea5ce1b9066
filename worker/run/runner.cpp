#include "worker/run/runner.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "worker/run/handler_facts.h"
#include "worker/run/job_user.h"

namespace rota::worker::run {

using model::AttemptReport;
using model::Refusal;

namespace {

sdk::RunFacts facts_of(const Order& order, Epoch epoch, const model::WorkerKey& life) {
  sdk::RunFacts facts;
  facts.run = order.key.run.value;
  facts.attempt = order.key.attempt;
  facts.epoch = epoch.value;
  facts.job = order.job.value;
  facts.job_name = order.job_name;
  facts.space = order.space;
  facts.kind = order.kind;
  facts.tick = order.tick;
  facts.scheduled = order.scheduled;
  facts.worker = life.id;
  facts.incarnation = life.incarnation;
  facts.parameters = order.parameters;
  return facts;
}

}  // namespace

void Runner::begin_life(const model::WorkerKey& life) {
  std::scoped_lock lock(mutex_);
  table_.begin_life(life);
  vouchers_.begin_life();
}

void Runner::greet(const std::string& incarnation) {
  std::scoped_lock lock(mutex_);
  if (incarnation != table_.life().incarnation) return;
  const MonoTime before = vouchers_.vouched_until();
  vouchers_.greet();
  vouch_locked(before);
}

model::WorkerKey Runner::life() const {
  std::scoped_lock lock(mutex_);
  return table_.life();
}

bool Runner::raise_epoch(Epoch epoch) {
  std::scoped_lock lock(mutex_);
  return table_.raise_epoch(epoch);
}

Epoch Runner::highest_epoch() const {
  std::scoped_lock lock(mutex_);
  return table_.highest_epoch();
}

void Runner::extend_lease(MonoTime end) {
  std::scoped_lock lock(mutex_);
  const MonoTime before = vouchers_.vouched_until();
  vouchers_.extend_lease(end);
  vouch_locked(before);
}

void Runner::extend_grant(MonoTime sent, Millis grant) {
  std::scoped_lock lock(mutex_);
  const MonoTime before = vouchers_.vouched_until();
  vouchers_.extend_grant(sent, grant);
  vouch_locked(before);
}

MonoTime Runner::vouched_until() const {
  std::scoped_lock lock(mutex_);
  return vouchers_.vouched_until();
}

/// Tells the warden when the end has moved. Under the lock, so that an older end never overtakes.
void Runner::vouch_locked(MonoTime before) {
  if (vouchers_.vouched_until() <= before) return;
  if (auto told = warden_.vouch(vouchers_.vouched_until()); !told) {
    log_warn("run", "the warden could not be told of a voucher", {{"why", told.error().message}});
  }
}

void Runner::set_draining(bool draining) {
  std::scoped_lock lock(mutex_);
  table_.set_draining(draining);
}

void Runner::set_full(bool full) {
  std::scoped_lock lock(mutex_);
  table_.set_full(full);
}

std::int32_t Runner::busy() const {
  std::scoped_lock lock(mutex_);
  return table_.busy();
}

std::size_t Runner::held() const {
  std::scoped_lock lock(mutex_);
  return table_.entries().size();
}

RunnerCounts Runner::counts() const {
  std::scoped_lock lock(mutex_);
  return counts_;
}

model::Inventory Runner::inventory() const {
  std::scoped_lock lock(mutex_);
  return table_.inventory();
}

void Runner::acknowledged(const std::vector<model::AttemptKey>& keys) {
  const MonoTime now = clock_.mono();
  {
    std::scoped_lock lock(mutex_);
    for (const model::AttemptKey& key : keys) table_.acknowledged(key, now);
  }
  for (const model::AttemptKey& key : keys) {
    spool_.outcome_acknowledged(key);
    progress_.forget(key);
  }
}

void Runner::stored(const std::vector<AttemptReport>& reports) {
  std::vector<model::AttemptKey> forget;
  {
    std::scoped_lock lock(mutex_);
    for (const AttemptReport& report : reports) {
      table_.finished(report.key, report.outcome);
      ++counts_.finished;
      ++counts_.ended[report.outcome.state];
      if (to_forget_.erase(report.key) != 0) forget.push_back(report.key);
    }
  }
  for (const model::AttemptKey& key : forget) {
    // Not told: the warden tells of it again to the next life, which finds it in the outbox.
    (void)warden_.forget(to_warden(key));
  }
}

std::vector<OrderAnswer> Runner::dispatch(const Envelope& envelope, std::vector<Order> orders) {
  std::vector<OrderAnswer> answers;
  answers.reserve(orders.size());
  for (Order& order : orders) answers.push_back(take_order(envelope, std::move(order)));
  return answers;
}

/// What can be said before the table is asked; under the lock.
Refusal Runner::refusal_before(const Envelope& envelope, const Order& order,
                               std::string& detail) const {
  if (const Refusal refusal = table_.check(envelope); refusal != Refusal::None) return refusal;
  if (table_.find(order.key) != nullptr) return Refusal::None;
  if (order.work.handler != "command" && registry_.find(order.work.handler) == nullptr) {
    detail = "no handler '" + order.work.handler + "' in this worker";
    return Refusal::UnknownHandler;
  }
  if (auto trouble = trouble_with(order.work)) {
    detail = *trouble;
    return Refusal::Malformed;
  }
  if (!order.work.run_as.empty()) {
    const auto user = job_user(order.work.run_as, options_.run_as_users);
    if (user) return Refusal::None;
    detail = user.error().message;
    return Refusal::Malformed;
  }
  return Refusal::None;
}

OrderAnswer Runner::take_order(const Envelope& envelope, Order order) {
  OrderAnswer answer{order.key, Refusal::None, {}};
  bool is_new = false;
  {
    std::scoped_lock lock(mutex_);
    answer.refusal = refusal_before(envelope, order, answer.detail);
    if (answer.refusal == Refusal::None) {
      const auto verdict = table_.accept(envelope, order.key, vouchers_, clock_.mono());
      answer.refusal = verdict.refusal;
      is_new = verdict.is_new;
    }
    if (is_new) {
      auto live = std::make_shared<Live>();
      live->key = order.key;
      live->life = envelope.to;
      live->cap_bytes = order.work.output_cap_bytes;
      live->kill_grace = order.kill_grace;
      live->disconnect_grace = order.disconnect_grace;
      live->limits = order.work.limits;
      live->keep_folder = order.work.keep_folder;
      live_.emplace(order.key, std::move(live));
      ++counts_.accepted;
    }
    if (answer.refusal != Refusal::None) ++counts_.refused;
    if (answer.refusal == Refusal::OldEpoch) ++counts_.refused_old_epoch;
  }
  if (answer.refusal == Refusal::OldEpoch) {
    log_warn("run", "refused a dispatch of a deposed leader",
             {{"run", order.key.run.value}, {"epoch", envelope.epoch.value}});
  }
  if (!is_new) return answer;
  if (auto launched = launch(envelope, order); !launched) {
    std::scoped_lock lock(mutex_);
    table_.withdraw(order.key);
    live_.erase(order.key);
    return {order.key, Refusal::NoSlot, launched.error().message};
  }
  return answer;
}

Result<void> Runner::launch(const Envelope& envelope, const Order& order) {
  if (model::has_own_process(order.work)) return launch_command(envelope, order);
  launch_handler(envelope, order, *registry_.find(order.work.handler));
  return {};
}

Result<void> Runner::launch_command(const Envelope& envelope, const Order& order) {
  const bool is_handler = order.work.handler != "command";
  std::string brief;
  if (is_handler) {
    brief = encode_brief({facts_of(order, envelope.epoch, envelope.to), options_.lock_address});
  }
  auto place = make_work_place(folders_, order, brief, options_.run_as_users);
  if (!place) return fail(place.error());
  std::shared_ptr<Live> live;
  {
    std::scoped_lock lock(mutex_);
    live = live_.at(order.key);
    live->place = *place;
    live->is_handler = is_handler;
    if (!place->script_file.empty()) live->interpreter = interpreter_of(order.work);
  }
  const auto sent = warden_.start(
      plan_command(order, *place, options_.environment, envelope.epoch, envelope.to, options_.program));
  if (!sent) {
    give_back(*live, true);
    return fail(sent.error());
  }
  std::optional<Millis> cancel;
  {
    std::scoped_lock lock(mutex_);
    live->is_sent = true;
    cancel = live->cancel_grace;
  }
  if (cancel) return warden_.kill(to_warden(order.key), *cancel, warden::KilledBy::Cancel);
  return {};
}

void Runner::launch_handler(const Envelope& envelope, const Order& order, sdk::Handler& handler) {
  const PipeTaker take_pipe = [this, cap = order.work.output_cap_bytes](
                                  model::AttemptKey key, int stream, UniqueFd read_end) {
    auto shared = std::make_shared<UniqueFd>(std::move(read_end));  // std::function copies
    post([this, key, stream, cap, shared] {
      {
        std::scoped_lock lock(mutex_);
        if (!live_.contains(key)) return;  // given up: its end has been told, and nobody waits for more
      }
      output_.watch({key, stream}, std::move(*shared), cap);
    });
  };
  auto attempt = std::make_shared<HandlerAttempt>(
      order.key, facts_of(order, envelope.epoch, envelope.to), take_pipe,
      [this](model::AttemptKey key, Said said) { note(key, std::move(said)); }, order.checkpoint,
      options_.locks);
  {
    std::scoped_lock lock(mutex_);
    Live& live = *live_.at(order.key);
    live.handler = attempt;
    live.is_sent = true;
    if (live.cancel_grace) attempt->cancel(warden::KilledBy::Cancel);
    if (order.timeout > Millis{0}) {
      deadlines_.emplace(clock_.mono() + order.timeout, Deadline{order.key, false});
    }
  }
  handlers_.run([this, key = order.key, attempt, &handler] { run_handler(key, attempt, handler); });
}

/// On a slot's thread.
void Runner::run_handler(model::AttemptKey key, const std::shared_ptr<HandlerAttempt>& attempt,
                         sdk::Handler& handler) {
  const WallTime started = clock_.wall();
  model::WorkerKey life;
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    if (found == live_.end()) return;
    life = found->second->life;
    table_.started(key, started);
  }
  sink_.started({key, life, AttemptReport::What::Started, started, {}});
  const model::Outcome outcome = attempt->run(handler, clock_);
  if (!attempt->has_output()) {
    finish_handler(key, outcome, false);
    return;
  }
  post([this, key, outcome] { finish_handler(key, outcome, true); });
}

Refusal Runner::check(const Envelope& envelope) {
  std::scoped_lock lock(mutex_);
  const Refusal refusal = table_.check(envelope);
  if (refusal == Refusal::OldEpoch) ++counts_.refused_old_epoch;
  return refusal;
}

Refusal Runner::cancel(const Envelope& envelope, const std::vector<model::AttemptKey>& keys,
                       Millis grace) {
  if (const Refusal refusal = check(envelope); refusal != Refusal::None) return refusal;
  for (const model::AttemptKey& key : keys) cancel_one(key, grace, warden::KilledBy::Cancel);
  return Refusal::None;
}

void Runner::cancel_one(model::AttemptKey key, Millis grace, warden::KilledBy by) {
  bool is_command = false;
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    if (found == live_.end()) return;
    Live& live = *found->second;
    if (!live.is_sent) live.cancel_grace = grace;
    is_command = live.is_sent && !live.handler;
    if (live.handler) {
      live.handler->cancel(by);
      deadlines_.emplace(clock_.mono() + grace, Deadline{key, true});
    }
  }
  if (!is_command) return;
  if (auto told = warden_.kill(to_warden(key), grace, by); !told) {
    log_warn("run", "the warden could not be told to end an attempt",
             {{"run", key.run.value}, {"why", told.error().message}});
  }
}

void Runner::kill_all() {
  std::vector<std::pair<model::AttemptKey, Millis>> all;
  {
    std::scoped_lock lock(mutex_);
    for (const auto& [key, live] : live_) all.emplace_back(key, live->kill_grace);
  }
  for (const auto& [key, grace] : all) cancel_one(key, grace, warden::KilledBy::Stop);
}

void Runner::give_back(const Live& live, bool is_dead) {
  clear_work_place(live.place);
  // A folder in which something may still live is left to the next start.
  if (!live.place.folder.empty() && is_dead) folders_.release(live.place.folder);
}

/// The outcome's words for a folder that was kept; empty: it was not.
std::string Runner::keep_or_give_back(const Live& live, bool is_dead, model::RunState state) {
  const bool is_wanted = live.keep_folder == model::KeepFolder::Always ||
                         (live.keep_folder == model::KeepFolder::OnFailure &&
                          state != model::RunState::Succeeded);
  if (live.place.folder.empty() || !is_dead || !is_wanted) {
    give_back(live, is_dead);
    return {};
  }
  const auto place = folders_.keep(live.place.folder, live.key);
  return place ? "its folder is kept as " + *place : place.error().message;
}

/// Called by the sampler.
void Runner::kill_for_limit(model::AttemptKey key, const Excess& excess) {
  Millis grace{0};
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    if (found == live_.end()) return;
    Live& live = *found->second;
    if (live.excess.empty()) live.excess = excess.text;
    if (!excess.is_wild) grace = live.kill_grace;
  }
  log_warn("run", "an attempt is ended for its limits",
           {{"run", key.run.value}, {"why", excess.text}});
  // A warden of before knows no limits; the excess in words then stays here, and dies with this life.
  const auto by = warden_version_ >= 2 ? excess.by : warden::KilledBy::Stop;
  if (auto told = warden_.kill(to_warden(key), grace, by); !told) {
    log_warn("run", "the warden could not be told to end an attempt",
             {{"run", key.run.value}, {"why", told.error().message}});
  }
}

/// Passes on what an attempt said of itself, while it is held.
void Runner::note(model::AttemptKey key, Said said) {
  if (!said.percent && !said.checkpoint) return;
  AttemptReport report{key, {}, AttemptReport::What::Started, {}, {}, model::RunNote{}};
  {
    std::scoped_lock lock(mutex_);
    const TableEntry* entry = table_.find(key);
    if (entry == nullptr) return;
    report.worker = entry->life;
    report.started = entry->started;
  }
  report.note->run = key.run;
  report.note->attempt = key.attempt;
  report.note->said = clock_.wall();
  report.note->percent = said.percent;
  report.note->text = std::move(said.text);
  report.note->checkpoint = std::move(said.checkpoint);
  sink_.noted(std::move(report));
}

void Runner::post(std::function<void()> task) {
  {
    std::scoped_lock lock(mutex_);
    posted_.push_back(std::move(task));
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

}  // namespace rota::worker::run
