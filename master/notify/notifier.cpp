#include "master/notify/notifier.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "common/base/log.h"

namespace rota::master::notify {
namespace {

/// The core has one on its way; beside it stand those of a Term before, and what the master tells by
/// itself.
constexpr std::size_t kQueueMost = 100;
constexpr int kOwnTries = 5;
constexpr Millis kOwnPause{5000};

}  // namespace

/// One receiver and its thread.
class Notifier::Line {
 public:
  struct Job {
    std::string json;
    std::function<void(const std::string& error)> ended;
    int tries = 1;
  };

  explicit Line(Receiver receiver)
      : receiver_(std::move(receiver)), thread_([this](std::stop_token stop) { work(stop); }) {}

  const model::ReceiverRule& rule() const { return receiver_.rule; }

  void put(Job job) {
    {
      std::scoped_lock lock(mutex_);
      if (jobs_.size() < kQueueMost) {
        jobs_.push_back(std::move(job));
        ready_.notify_one();
        return;
      }
    }
    if (job.ended) job.ended("too many wait for this receiver");
  }

  Result<std::string> deliver(const std::string& json, std::stop_token stop) {
    return receiver_.route->deliver(json, receiver_.timeout, stop);
  }

  void stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void work(std::stop_token stop) {
    while (!stop.stop_requested()) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        if (!ready_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      const std::string error = attempt(job, stop);
      if (!stop.stop_requested() && job.ended) job.ended(error);
    }
  }

  std::string attempt(const Job& job, std::stop_token stop) {
    std::string error;
    for (int tried = 0; tried < job.tries; ++tried) {
      if (tried > 0) pause(kOwnPause, stop);
      const auto answer = deliver(job.json, stop);
      if (answer) return {};
      error = answer.error().message;
    }
    return error.empty() ? "unknown" : error;
  }

  void pause(Millis for_long, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, stop, for_long, [] { return false; });
  }

  const Receiver receiver_;
  std::mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<Job> jobs_;
  std::jthread thread_;  ///< last: it uses the rest
};

Notifier::Notifier(std::vector<Receiver> receivers, Sender sender) : sender_(std::move(sender)) {
  for (Receiver& receiver : receivers) lines_.push_back(std::make_unique<Line>(std::move(receiver)));
}

Notifier::~Notifier() { stop(); }

void Notifier::stop() {
  for (const auto& line : lines_) line->stop();
}

Notifier::Line* Notifier::find(const std::string& name) const {
  for (const auto& line : lines_) {
    if (line->rule().name == name) return line.get();
  }
  return nullptr;
}

std::vector<model::ReceiverRule> Notifier::rules() const {
  std::vector<model::ReceiverRule> out;
  for (const auto& line : lines_) out.push_back(line->rule());
  return out;
}

void Notifier::send(const model::Notification& row, Tried tried) {
  Line* const line = find(row.receiver);
  if (line == nullptr) return tried(row.id, "this master's settings name no such receiver");
  line->put({message_of(row, sender_),
             [id = row.id, tried = std::move(tried), name = row.receiver](const std::string& error) {
               if (!error.empty()) {
                 log_warn("notify", "a notification was not accepted; it is tried again",
                          {{"receiver", name}, {"id", id}, {"why", error}});
               }
               tried(id, error);
             }});
}

void Notifier::tell(model::Happening what, const std::string& id, const std::string& text, WallTime now) {
  model::Notification row;
  row.what = what;
  row.text = text;
  row.made = now;
  for (const auto& line : lines_) {
    if (!line->rule().wants.contains(what)) continue;
    row.receiver = line->rule().name;
    line->put({message_of(row, sender_, id),
               [name = row.receiver, id](const std::string& error) {
                 if (error.empty()) return log_info("notify", "told", {{"receiver", name}, {"id", id}});
                 log_warn("notify", "could not tell a receiver",
                          {{"receiver", name}, {"id", id}, {"why", error}});
               },
               kOwnTries});
  }
}

Result<std::string> Notifier::test(const std::string& receiver, const std::string& id, WallTime now) {
  Line* const line = find(receiver);
  if (line == nullptr) {
    return fail(ErrorCode::NotFound, "this master's settings name no receiver '" + receiver + "'");
  }
  model::Notification row;
  row.receiver = receiver;
  row.text = "a test of this receiver; nothing has happened";
  row.made = now;
  return line->deliver(message_of(row, sender_, id), {});
}

}  // namespace rota::master::notify
