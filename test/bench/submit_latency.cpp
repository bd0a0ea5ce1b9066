// From the submit of a command, on an idle cluster, to that command's own first look at the clock;
// beside the least that such a way can cost: two small calls and one commit.
#include <JobService.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "common/base/random.h"
#include "common/base/unique_fd.h"
#include "common/rpc/channel.h"
#include "common/rpc/server.h"
#include "test/bench/figures.h"
#include "test/bench/surroundings.h"

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
    if (::mkfifo(path_.c_str(), 0600) == 0) fd_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
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

  Result<double> sample_ms() {
    const double began = clock_ms();
    for (int i = 0; i < 2; ++i) {
      if (auto called = call_.call(); !called) return fail(called.error());
    }
    auto written = connection_->change(
        "INSERT INTO bench_commit (at_ms) VALUES (?)",
        [](master::store::Binder& binder) { binder.integer(1); });
    if (!written) return fail(written.error());
    return clock_ms() - began;
  }

 private:
  SmallCall call_;
  std::unique_ptr<master::store::Connection> connection_;
};

Result<double> sample_ms(client::Cluster& cluster, const thrift::SubmitItem& item, Fifo& fifo) {
  const double began = clock_ms();
  auto submitted = cluster.submit(item);
  if (!submitted) return fail(submitted.error());
  auto first = fifo.read_ms();
  if (!first) return fail(first.error());
  return *first - began;
}

}  // namespace

Result<bool> submit_latency(const Surroundings& where, const Effort& effort) {
  Fifo fifo;
  Limit limit;
  if (auto started = limit.start(where); !started) return fail(started.error());
  thrift::SubmitItem item;
  item.definition.__set_name("bench-clock");
  item.definition.work.__set_argv({where.program_folder + "/rota-bench-clock", fifo.path()});
  client::Cluster cluster(where.client());
  std::vector<double> ours, limits;
  for (int i = -5; i < effort.samples; ++i) {  // the first few make connections
    std::this_thread::sleep_for(kRest);
    auto our = sample_ms(cluster, item, fifo);
    if (!our) return fail(our.error());
    std::this_thread::sleep_for(kRest);
    auto least = limit.sample_ms();
    if (!least) return fail(least.error());
    if (i < 0) continue;
    ours.push_back(*our);
    limits.push_back(*least);
  }
  const double p50 = median(ours);
  Line("submit_latency")
      .add("samples", effort.samples)
      .add("p50_ms", p50, 2)
      .add("p99_ms", percentile(ours, 0.99), 2)
      .add("limit_p50_ms", median(limits), 2)
      .add("limit_p99_ms", percentile(limits, 0.99), 2)
      .add("ratio", p50 / median(limits), 1)
      .print_verdict(p50 <= kFloorMs, "p50<=10ms");
  return p50 <= kFloorMs;
}

}  // namespace rota::bench
