#include "worker/run/handler_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/unique_fd.h"
#include "common/base/utf8.h"
#include "worker/run/handler_call.h"
#include "worker/run/handler_facts.h"
#include "worker/run/job_environment.h"
#include "worker/run/progress_lines.h"

namespace rota::worker::run {

namespace {

constexpr std::size_t kMostFactsBytes = 16u << 20;

int term_event = -1;                   // all that a signal's handler may touch

void on_term(int) {
  const int kept = errno;
  const std::uint64_t one = 1;
  (void)!::write(term_event, &one, sizeof one);
  errno = kept;
}

/// Turns TERM into a call, on a thread of its own. The signal stays unblocked, so that what the handler
/// starts can be ended by it as usual.
class TermWatch {
 public:
  explicit TermWatch(std::function<void()> told)
      : told_(std::move(told)),
        term_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        done_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    CHECK_OR_DIE(term_.is_open() && done_.is_open(), "eventfd can be made");
    term_event = term_.get();
    struct sigaction action {};
    action.sa_handler = on_term;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGTERM, &action, nullptr);
    thread_ = std::jthread([this] { watch(); });
  }
  ~TermWatch() {
    ::signal(SIGTERM, SIG_DFL);
    const std::uint64_t one = 1;
    (void)!::write(done_.get(), &one, sizeof one);
  }
  TermWatch(const TermWatch&) = delete;
  TermWatch& operator=(const TermWatch&) = delete;

 private:
  void watch() {
    pollfd items[2] = {{term_.get(), POLLIN, 0}, {done_.get(), POLLIN, 0}};
    while (::poll(items, 2, -1) < 0) continue;
    if ((items[1].revents & POLLIN) == 0) told_();
  }

  const std::function<void()> told_;
  const UniqueFd term_;
  const UniqueFd done_;
  std::jthread thread_;
};

/// The context of a handler that is alone in its process. Thread: any.
class ProcessContext final : public sdk::Context {
 public:
  ProcessContext(sdk::RunFacts facts, std::optional<std::string> checkpoint, sdk::LockService* locks)
      : facts_(std::move(facts)), checkpoint_(std::move(checkpoint)), locks_(locks) {}

  const sdk::RunFacts& facts() const override { return facts_; }
  void log(std::string_view line) override { write_to(STDOUT_FILENO, std::string(line) + "\n"); }
  void log_error(std::string_view line) override { write_to(STDERR_FILENO, std::string(line) + "\n"); }
  void write(std::string_view bytes) override { write_to(STDOUT_FILENO, bytes); }

  Result<void> output(std::string value) override {
    if (auto fine = check_value("a result value", value.size()); !fine) return fine;
    Said said;
    said.result = std::move(value);
    tell(said);
    return {};
  }
  void progress(int percent, std::string_view text) override {
    Said said;
    said.percent = std::clamp(percent, 0, 100);
    said.text = clean_text(text, kMaxProgressText);
    std::ranges::replace(said.text, '\n', ' ');
    tell(said);
  }
  Result<void> save_checkpoint(std::string state) override {
    if (auto fine = check_value("a checkpoint", state.size()); !fine) return fine;
    Said said;
    said.checkpoint = std::move(state);
    tell(said);
    return {};
  }
  void tell(const Said& said) { write_to(kProgressDescriptor, lines_of(said)); }

  std::optional<std::string> checkpoint() const override { return checkpoint_; }
  Result<std::unique_ptr<sdk::HeldLock>> lock(const std::string& name, Millis at_most) override {
    return acquire_lock(locks_, *this, name, at_most);
  }
  bool cancelled() const override {
    std::scoped_lock lock(mutex_);
    return is_cancelled_;
  }
  bool wait_cancelled(Millis at_most) override {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, at_most, [&] { return is_cancelled_; });
  }
  void cancel() {
    {
      std::scoped_lock lock(mutex_);
      is_cancelled_ = true;
    }
    changed_.notify_all();
  }

 private:
  void write_to(int fd, std::string_view bytes) {
    std::scoped_lock lock(write_mutex_);
    write_all(fd, bytes);
  }

  const sdk::RunFacts facts_;
  const std::optional<std::string> checkpoint_;
  sdk::LockService* const locks_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_cancelled_ = false;
  std::mutex write_mutex_;             ///< lines of several threads do not mix
};

std::string variable(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? "" : value;
}

int complain(const std::string& why) {
  std::fprintf(stderr, "rota-worker: %s\n", why.c_str());
  return kNoHandlerRun;
}

}  // namespace

int run_handler_process(const sdk::Registry& registry, const std::string& name,
                        const LockMaker& make_locks) {
  sdk::Handler* const handler = registry.find(name);
  if (handler == nullptr) return complain("--handler: this program has no handler '" + name + "'");
  const auto text = read_file(variable("ROTA_FACTS_FILE"), kMostFactsBytes);
  if (!text) return complain("--handler is for the worker alone: " + text.error().message);
  auto brief = decode_brief(*text);
  if (!brief) return complain(brief.error().message);
  std::optional<std::string> checkpoint;
  if (const std::string path = variable("ROTA_CHECKPOINT_FILE"); !path.empty()) {
    auto state = read_file(path);
    if (!state) return complain(state.error().message);
    checkpoint = std::move(*state);
  }
  const auto locks = make_locks(brief->locks);
  ProcessContext context(std::move(brief->facts), std::move(checkpoint), locks.get());
  const TermWatch watch([&context] { context.cancel(); });
  const Result<void> done = call_handler(*handler, context);
  if (done) return 0;
  Said said;
  said.failure = clean_text(done.error().message, kMaxHandlerMessage);
  context.tell(said);
  return kHandlerFailed;
}

}  // namespace rota::worker::run
