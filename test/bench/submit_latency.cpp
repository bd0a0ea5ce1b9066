// From the submit of a command, on an idle cluster, to that command's own first look at the clock;
// beside the least that such a way can cost: two small calls and one commit.
#include <JobService.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "common/base/random.h"
#include "common/base/unique_fd.h"
#include "common/rpc/channel.h"
#include "common/rpc/server.h"
#include "test/bench/figures.h"
#include "test/bench/surroundings.h"

extern char** environ;

namespace rota::bench {
namespace {

constexpr double kFloorMs = 10;
constexpr Millis kRest{20};  // between samples, so that each meets an idle cluster
constexpr int kPatienceMs = 10'000;

double clock_ms(const timespec& at) {
  return static_cast<double>(at.tv_sec) * 1e3 + static_cast<double>(at.tv_nsec) / 1e6;
}

double clock_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return clock_ms(now);
}

/// Where the command's reading comes in. Goes with the object.
class Fifo {
 public:
  Fifo() : path_("/tmp/rota-bench-" + random_hex(8)) {
    // Whoever the command runs as writes into it.
    if (::mkfifo(path_.c_str(), 0600) == 0 && ::chmod(path_.c_str(), 0622) == 0) fd_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  }
  ~Fifo() { ::unlink(path_.c_str()); }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  const std::string& path() const { return path_; }
  Result<double> read_ms() {
    pollfd question{fd_.get(), POLLIN, 0};
    timespec at{};
    if (::poll(&question, 1, kPatienceMs) != 1 ||
        ::read(fd_.get(), &at, sizeof at) != static_cast<ssize_t>(sizeof at)) {
      return fail(ErrorCode::TimedOut, "the command did not tell its time within 10 s");
    }
    return clock_ms(at);
  }

 private:
  const std::string path_;
  UniqueFd fd_;
};

/// One small call, to a server in this process over the product's own transport.
class SmallCall {
 public:
  SmallCall()
      : server_(std::make_shared<thrift::JobServiceProcessor>(
                    std::make_shared<thrift::JobServiceNull>()),
                {.name = "bench", .threads = 2}) {}
  ~SmallCall() { server_.stop(); }

  Result<void> start() {
    if (auto started = server_.start(); !started) return started;
    channel_ = std::make_unique<rpc::Channel<thrift::JobServiceClient>>(
        rpc::Endpoint{"127.0.0.1", server_.port()});
    return {};
  }
  Result<void> call() {
    const auto done = channel_->call(
        [](thrift::JobServiceClient& client) {
          thrift::SubmitResult result;
          client.submit(result, thrift::RequestHead(), thrift::SubmitItem());
        },
        Millis{2000});
    return done ? Result<void>() : fail(done.error().error);
  }

 private:
  rpc::Server server_;
  std::unique_ptr<rpc::Channel<thrift::JobServiceClient>> channel_;
};

class Limit {
 public:
  Result<void> start(const Surroundings& where) {
    if (auto started = call_.start(); !started) return started;
    auto opened = master::store::Connection::open(where.database);
    if (!opened) return fail(opened.error());
    connection_ = std::move(*opened);
    auto made = connection_->run_text(
        "CREATE TABLE IF NOT EXISTS bench_commit (id BIGINT PRIMARY KEY AUTO_INCREMENT, "
        "at_ms BIGINT NOT NULL) ENGINE=InnoDB");
    return made ? Result<void>() : fail(made.error());
  }
  ~Limit() {
    if (connection_) (void)connection_->run_text("DROP TABLE IF EXISTS bench_commit");
  }

  /// Of two small calls and a commit.
  struct Sample {
    double calls_ms = 0, commit_ms = 0;
    double sum_ms() const { return calls_ms + commit_ms; }
  };

  Result<Sample> sample() {
    const double began = clock_ms();
    for (int i = 0; i < 2; ++i) {
      if (auto called = call_.call(); !called) return fail(called.error());
    }
    const double called = clock_ms();
    auto written = connection_->change(
        "INSERT INTO bench_commit (at_ms) VALUES (?)",
        [](master::store::Binder& binder) { binder.integer(1); });
    if (!written) return fail(written.error());
    return Sample{called - began, clock_ms() - called};
  }

 private:
  SmallCall call_;
  std::unique_ptr<master::store::Connection> connection_;
};

/// From the submit to its answer, and to the command's first look at the clock.
struct Sample {
  double answered_ms = 0, started_ms = 0;
};

Result<Sample> sample(client::Cluster& cluster, const thrift::SubmitItem& item, Fifo& fifo) {
  const double began = clock_ms();
  auto submitted = cluster.submit(item);
  if (!submitted) return fail(submitted.error());
  const double answered = clock_ms();
  auto first = fifo.read_ms();
  if (!first) return fail(first.error());
  return Sample{answered - began, *first - began};
}

/// The same command started by this program: what fork and exec alone cost.
Result<double> spawn_ms(const thrift::SubmitItem& item, Fifo& fifo) {
  std::vector<std::string> words = item.definition.work.argv;
  char* const argv[] = {words[0].data(), words[1].data(), nullptr};
  pid_t pid = -1;
  const double began = clock_ms();
  if (::posix_spawn(&pid, argv[0], nullptr, nullptr, argv, environ) != 0) {
    return fail(ErrorCode::Unavailable, words[0] + " can not be started");
  }
  auto first = fifo.read_ms();
  ::waitpid(pid, nullptr, 0);
  if (!first) return first;
  return *first - began;
}

struct Samples {
  std::vector<double> started, answered, limits, calls, commits, spawns;

  Result<void> add(client::Cluster& cluster, const thrift::SubmitItem& item, Fifo& fifo,
                   Limit& limit, bool counts) {
    std::this_thread::sleep_for(kRest);
    auto our = sample(cluster, item, fifo);
    if (!our) return fail(our.error());
    std::this_thread::sleep_for(kRest);
    auto least = limit.sample();
    if (!least) return fail(least.error());
    auto spawn = spawn_ms(item, fifo);
    if (!spawn) return fail(spawn.error());
    if (!counts) return {};
    started.push_back(our->started_ms);
    answered.push_back(our->answered_ms);
    limits.push_back(least->sum_ms());
    calls.push_back(least->calls_ms / 2);
    commits.push_back(least->commit_ms);
    spawns.push_back(*spawn);
    return {};
  }
};

}  // namespace

Result<bool> submit_latency(const Surroundings& where, const Effort& effort) {
  Fifo fifo;
  Limit limit;
  if (auto started = limit.start(where); !started) return fail(started.error());
  thrift::SubmitItem item;
  item.__set_definition(
      where.command("bench-clock", {where.job_program_folder + "/rota-bench-clock", fifo.path()}));
  client::Cluster cluster(where.client());
  Samples samples;
  for (int i = -5; i < effort.samples; ++i) {  // the first few make connections
    if (auto added = samples.add(cluster, item, fifo, limit, i >= 0); !added) return fail(added.error());
  }
  const double p50 = median(samples.started);
  Line("submit_latency")
      .add("samples", effort.samples)
      .add("user", where.job_user_shown())
      .add("batch", 1)
      .add("p50_ms", p50, 2)
      .add_tail("ms", samples.started, 2)
      .add("answered_p50_ms", median(samples.answered), 2)
      .add("limit_p50_ms", median(samples.limits), 2)
      .add_tail("limit_ms", samples.limits, 2)
      .add("call_p50_ms", median(samples.calls), 3)
      .add("commit_p50_ms", median(samples.commits), 2)
      .add("spawn_p50_ms", median(samples.spawns), 2)
      .add("ratio", p50 / median(samples.limits), 1)
      .print_verdict(p50 <= kFloorMs, "p50<=10ms");
  return p50 <= kFloorMs;
}

}  // namespace rota::bench
