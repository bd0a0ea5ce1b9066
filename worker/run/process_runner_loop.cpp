// The runner's own thread: pipes, the warden's notices, and what was posted to it.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/ranges.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "worker/run/process_runner.h"

namespace rota::worker::run {

namespace {

constexpr std::int32_t kMostInAdvance = 32;  // work folders
constexpr std::uint64_t kWakeToken = 0;
constexpr std::uint64_t kWardenToken = 1;
constexpr std::uint64_t kFirstPipeToken = 16;
constexpr std::uint64_t kFirstProgressToken = std::uint64_t{1} << 62;
constexpr Millis kListPatience{5000};
constexpr Millis kHandlerStopPatience{5000};

/// The warden saw a death that this process had caused, and saw it late since it hung.
warden::Ended killed_unvouched(warden::Ended ended, MonoTime at, bool ends_all) {
  if (ended.killed_by == warden::KilledBy::None) ended.killed_by = warden::KilledBy::Voucher;
  if (ends_all && at > ended.started && at < ended.ended) {
    ended.ended_wall -= floor_ms(ended.ended - at);
    ended.ended = at;
  }
  return ended;
}

void watch(int epoll, int fd, std::uint64_t token) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = token;
  CHECK_OR_DIE(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll accepts a descriptor");
}

}  // namespace

ProcessRunner::ProcessRunner(RunnerOptions options, warden::WardenClient& warden,
                             const sdk::Registry& registry, Spool& spool, const Clock& clock)
    : options_(std::move(options)),
      warden_(warden),
      registry_(registry),
      spool_(spool),
      clock_(clock),
      folders_(options_.work_dir, static_cast<std::size_t>(std::min(options_.slots, kMostInAdvance))),
      cleanups_(options_.cleanups_dir),
      users_(options_.run_as_users, clock),
      handlers_(static_cast<std::size_t>(options_.slots)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      output_(spool, epoll_.get(), kFirstPipeToken, options_.output),
      progress_(options_.notes_dir, epoll_.get(), kFirstProgressToken,
                [this](model::AttemptKey key, const Said& said) { tell(key, said); }),
      sampler_([this](model::AttemptKey key, const Excess& excess) { kill_for_limit(key, excess); }) {
  CHECK_OR_DIE(epoll_.is_open() && wake_.is_open(), "epoll and eventfd can be made");
}

ProcessRunner::~ProcessRunner() { stop(); }

Result<void> ProcessRunner::open(desk::AttemptEvents& events,
                                 const std::set<model::AttemptKey>& unreported) {
  events_ = &events;
  if (auto made = folders_.start(); !made) return made;
  if (auto read = progress_.start(); !read) return read;
  if (auto read = cleanups_.start(); !read) return read;
  if (auto adopted = adopt_held(); !adopted) return adopted;
  clean_up_behind_the_dead(unreported);
  forget_earlier_folders();
  tell_kept(unreported);
  sampler_.start();
  watch(epoll_.get(), wake_.get(), kWakeToken);
  watch(epoll_.get(), warden_.fd(), kWardenToken);
  thread_ = std::jthread([this](std::stop_token stop) {
    while (!stop.stop_requested() && !warden_is_gone_) turn();
  });
  return {};
}

bool ProcessRunner::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    post([] {});
    thread_.join();
  }
  sampler_.stop();
  folders_.stop();
  return handlers_.stop(kHandlerStopPatience);
}

/// Learns from the warden what runs and what ended while nobody listened.
Result<void> ProcessRunner::adopt_held() {
  if (auto asked = warden_.list(1); !asked) return asked;
  const MonoTime deadline = clock_.mono() + kListPatience;
  // An attempt that was just starting comes after the list's end; until it has come, an inventory that
  // lacks it would call it dead.
  while (!is_listed_ || held_seen_ < held_expected_) {
    auto notices = warden_.receive(Millis{100});
    if (!notices && notices.error().code == ErrorCode::Unavailable) return fail(notices.error());
    if (notices) {
      for (warden::Notice& notice : *notices) handle(std::move(notice));
    }
    if (clock_.mono() > deadline) {
      return fail(ErrorCode::TimedOut, "the warden did not say within 5 s what it holds");
    }
  }
  return {};
}

/// What attempts of an earlier life said and may never have been stored is told again, once.
void ProcessRunner::tell_kept(const std::set<model::AttemptKey>& unreported) {
  std::set<model::AttemptKey> needed = unreported;
  {
    std::scoped_lock lock(mutex_);
    for (const auto& [key, live] : live_) needed.insert(key);
    needed.insert(to_forget_.begin(), to_forget_.end());
  }
  progress_.forget_all_but(needed);
  for (const model::AttemptKey& key : needed) {
    if (auto said = progress_.kept(key)) tell(key, std::move(*said));
  }
}

void ProcessRunner::turn() {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 wait_ms());
  const Now now = clock_.now();
  last_turn_us_ = now.mono.time_since_epoch().count();
  bool has_notices = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == kWardenToken) has_notices = true;
    else handle_event(event.data.u64, event.events, now);
  }
  run_posted();
  if (has_notices) receive_notices();
  output_.fix_due(clock_.now());
  progress_.resume_due(clock_.mono());
  check_deadlines();
  ping_if_due();
}

void ProcessRunner::handle_event(std::uint64_t token, std::uint32_t events, Now now) {
  if (token == kWakeToken) {
    std::uint64_t ignored = 0;
    (void)!::read(wake_.get(), &ignored, sizeof ignored);
  } else if (token >= kFirstProgressToken) {
    progress_.handle(token, now.mono);
  } else {
    output_.handle(token, events, now);
  }
}

int ProcessRunner::wait_ms() const {
  // A deadline that is set during the wait is seen after the next ping at the latest.
  MonoTime next = std::min(next_ping_, next_deadline_);
  if (const auto due = output_.next_due()) next = std::min(next, *due);
  if (const auto due = progress_.next_due()) next = std::min(next, *due);
  const Millis left = std::chrono::ceil<Millis>(next - clock_.mono());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000));
}

void ProcessRunner::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    std::scoped_lock lock(mutex_);
    tasks.swap(posted_);
  }
  for (const auto& task : tasks) task();
}

void ProcessRunner::receive_notices() {
  auto notices = warden_.receive(Millis{0});
  if (notices) {
    for (warden::Notice& notice : *notices) handle(std::move(notice));
    return;
  }
  if (notices.error().code != ErrorCode::Unavailable) {
    log_warn("run", "a message of the warden was dropped", {{"why", notices.error().message}});
    return;
  }
  warden_is_gone_ = true;
  log_error("run", "the warden is gone", {{"why", notices.error().message}});
  if (options_.warden_gone) options_.warden_gone();
}

void ProcessRunner::handle(warden::Notice notice) {
  if (auto* welcome = std::get_if<warden::Welcome>(&notice)) on_welcome(*welcome);
  if (auto* started = std::get_if<warden::Started>(&notice)) on_started(std::move(*started));
  if (auto* held = std::get_if<warden::Held>(&notice)) on_held(std::move(*held));
  if (auto* ended = std::get_if<warden::Ended>(&notice)) on_ended(*ended);
  if (std::get_if<warden::ListEnd>(&notice) != nullptr) is_listed_ = true;
}

void ProcessRunner::on_welcome(const warden::Welcome& welcome) {
  kill_means_ = warden::name_of(welcome.means);
  held_expected_ = welcome.held;
  warden_version_ = welcome.version;
  kernel_limits_ = welcome.kernel_limits;
  warden_start_ = welcome.start;
  log_info("run", "under the warden",
           {{"means", kill_means_}, {"kernel_limits", fmt::format("{}", fmt::join(kernel_limits(), ","))},
            {"life", welcome.life}, {"held", welcome.held}});
}

void ProcessRunner::on_started(warden::Started started) {
  if (is_cleanup(started.key)) return on_cleanup_started(std::move(started));
  const model::AttemptKey key = from_warden(started.key);
  std::shared_ptr<Live> live;
  {
    std::scoped_lock lock(mutex_);
    const auto found = live_.find(key);
    if (found == live_.end() || found->second->pidfd.is_open()) return;
    live = found->second;
    live->pidfd = std::move(started.pidfd);
    sample(*live, started.pid);
  }
  output_.watch({key, 1}, std::move(started.out), live->cap_bytes);
  output_.watch({key, 2}, std::move(started.err), live->cap_bytes);
  progress_.watch(key, std::move(started.progress));
  events_->started(key, live->life, started.started_wall);
}

/// Of an earlier life: adopted, unless its outcome is in the outbox already.
void ProcessRunner::on_held(warden::Held held) {
  ++held_seen_;
  if (is_cleanup(held.running.key)) return on_cleanup_held(std::move(held));
  const model::AttemptKey key = from_warden(held.running.key);
  AttemptNote note;
  if (auto read = decode_note(held.note)) note = *read;
  if (!events_->adopted({key, note.life, held.running.started_wall, held.disconnect_grace, note.demand})) {
    (void)warden_.forget(to_warden(key));  // told again to the next life if this is lost
    return;
  }
  const auto live = live_of_note(key, note);
  live->pidfd = std::move(held.running.pidfd);
  {
    std::scoped_lock lock(mutex_);
    if (!held.end) sample(*live, held.running.pid);
    live_.emplace(key, live);
  }
  output_.watch({key, 1}, std::move(held.running.out), note.cap_bytes);
  output_.watch({key, 2}, std::move(held.running.err), note.cap_bytes);
  progress_.watch(key, std::move(held.running.progress));
  if (held.end) on_ended(*held.end);
}

std::shared_ptr<ProcessRunner::Live> ProcessRunner::live_of_note(model::AttemptKey key,
                                                                 const AttemptNote& note) const {
  auto live = std::make_shared<Live>();
  live->key = key;
  live->life = note.life;
  live->cap_bytes = note.cap_bytes;
  live->kill_grace = note.kill_grace;
  live->limits = note.limits;
  live->keep_folder = note.keep_folder;
  live->place.folder = note.folder;
  live->is_handler = note.is_handler;
  live->is_adopted = true;
  if (auto owed = cleanups_.find(key)) live->cleanup = std::move(owed->start);
  return live;
}

void ProcessRunner::sample(const Live& live, pid_t root) {
  // In a namespace the root is its keeper, which is none of the job's processes.
  const bool is_job = kill_means_ != warden::name_of(warden::Means::PidNamespace);
  sampler_.add(live.key, {root, is_job, live.limits, live.place.folder});
}

void ProcessRunner::on_ended(const warden::Ended& ended) {
  if (is_cleanup(ended.key)) return on_cleanup_ended(ended);
  sampler_.remove(from_warden(ended.key));
  if (!begin_cleanup(ended)) finish_process(ended, nullptr);
}

/// The attempt is over, and so is its cleanup, when it had one.
void ProcessRunner::finish_process(const warden::Ended& ended, const warden::Ended* cleanup) {
  const model::AttemptKey key = from_warden(ended.key);
  ProgressCollector::Total told = finish_progress(key);
  const auto live = remove(key, true);
  if (!live) return;  // told again; its outcome is under way
  model::Outcome outcome = outcome_of_process(*live, ended, std::move(told));
  if (cleanup != nullptr) add_cleanup(outcome, *cleanup);
  const bool is_dead = ended.proven_empty || ended.failed_step != warden::StartStep::None;
  const std::string kept = keep_or_give_back(*live, is_dead, outcome.state);
  if (!kept.empty()) outcome.message += (outcome.message.empty() ? "" : "; ") + kept;
  events_->ended(key, live->life, std::move(outcome));
  if (live->is_adopted) forget_earlier_folders();
}

model::Outcome ProcessRunner::outcome_of_process(const Live& live, const warden::Ended& ended,
                                                 ProgressCollector::Total told) {
  const bool ends_all = kill_means_ == name_of(warden::Means::PidNamespace);
  const warden::Ended seen =
      live.unvouched_at ? killed_unvouched(ended, *live.unvouched_at, ends_all) : ended;
  model::Outcome outcome = outcome_of(seen, output_.finish(live.key, clock_.now()), live.excess);
  name_interpreter(outcome, ended, live.interpreter);
  if (live.is_handler) say_handler_failure(outcome, told.said);
  add_told(outcome, std::move(told.said), told.bad_lines, told.first_bad);
  say_unheld(outcome, ended, live.limits, kernel_limits_);
  return outcome;
}

ProgressCollector::Total ProcessRunner::finish_progress(model::AttemptKey key) {
  ProgressCollector::Total told = progress_.finish(key);
  if (told.bad_lines > 0) {
    log_warn("run", "a job wrote lines to ROTA_FD that are not understood",
             {{"run", key.run.value}, {"lines", told.bad_lines}, {"first", told.first_bad}});
  }
  return told;
}

void ProcessRunner::ping_if_due() {
  const MonoTime now = clock_.mono();
  if (now < next_ping_) return;
  next_ping_ = now + options_.ping_every;
  // A full socket means that the warden does not answer; is_answering tells that by itself.
  (void)warden_.ping();
  if (!is_in_control()) events_->vouchers_unguarded(now);
}

/// Once nothing of an earlier life runs any more, its folders may go.
void ProcessRunner::forget_earlier_folders() {
  if (!has_earlier_folders_) return;
  {
    std::scoped_lock lock(mutex_);
    for (const auto& [key, live] : live_) {
      if (live->is_adopted) return;
    }
  }
  has_earlier_folders_ = false;
  folders_.remove_earlier();
}

}  // namespace rota::worker::run
