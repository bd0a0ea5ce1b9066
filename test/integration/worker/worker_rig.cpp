#include "test/integration/worker/worker_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/random.h"
#include "common/model/worker_json.h"
#include "common/zk/cluster_nodes.h"
#include "common/zk/paths.h"
#include "common/zk/real_client.h"
#include "test/support/zookeeper_server.h"
#include "worker/warden/cgroup_tree.h"
#include "worker/warden/process_scan.h"

namespace rota::testing {

namespace {

/// Of one call of a leader, or of one question to ZooKeeper.
constexpr Millis kCallPatience{30'000};

/// Nothing when there is no such file, or its process ended meanwhile.
std::string text_of(const std::string& path) { return read_file(path).value_or(""); }

}  // namespace

namespace {
ZookeeperServer& shared_server() {
  static ZookeeperServer server;
  static const bool is_up = server.start().has_value();
  CHECK_OR_DIE(is_up, "ZooKeeper starts");
  return server;
}
}  // namespace

const std::string& zookeeper_address() {
  static const std::string address = shared_server().address();
  return address;
}

ZookeeperPause::ZookeeperPause() { shared_server().freeze(); }

void ZookeeperPause::end() {
  if (is_on_) shared_server().thaw();
  is_on_ = false;
}

WorkerUnderTest::WorkerUnderTest(WorkerSettings settings, const WorkerUnderTest& beside)
    : WorkerUnderTest(std::move(settings)) {
  cluster_ = beside.cluster_;
  write_configuration();
}

WorkerUnderTest::WorkerUnderTest(WorkerSettings settings)
    : settings_(std::move(settings)), cluster_("t" + random_hex(4)) {
  char name[] = "/tmp/rota-worker-test-XXXXXX";
  folder_ = ::mkdtemp(name);
  connect();
  const zk::Paths paths(cluster_);
  CHECK_OR_DIE(zk::ensure_cluster(*zk_, paths).has_value(), "the cluster's folders");
  CHECK_OR_DIE(zk::create_cluster_uuid(*zk_, paths, "uuid-" + cluster_).has_value(), "its uuid");
  write_configuration();
}

void WorkerUnderTest::connect() {
  zk::ClientOptions options;
  options.addresses = zookeeper_address();
  options.session_timeout = Millis{20'000};
  options.operation_deadline = kCallPatience;
  auto client = zk::connect_once(options);
  CHECK_OR_DIE(client.has_value(), "ZooKeeper is reached");
  zk_ = std::move(*client);
}

void WorkerUnderTest::write_configuration() {
  std::ofstream(folder_ + "/worker.yaml")
      << "id: " << settings_.id << "\ncluster: " << cluster_ << "\nslots: 8\nstate_dir: " << folder_
      << "/state\nzookeeper:\n  connect: " << zookeeper_address()
      << "\n  session_timeout_ms: " << settings_.vouching.session.count() << "\n" << settings_.extra_yaml;
}

WorkerUnderTest::~WorkerUnderTest() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    // As its watchdog would.
    (void)worker::warden::clear_tree(worker::warden::tree_name(folder_ + "/state"), Millis{2000});
  }
  std::error_code ignored;
  eventually([&] { return std::filesystem::remove_all(folder_, ignored) != 0 && !ignored; },
             Millis{2000});
}

void WorkerUnderTest::start() {
  pid_ = ::fork();
  if (pid_ != 0) return;
  const int log = ::open((folder_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(log, 1);
  ::dup2(log, 2);
  const std::string config = folder_ + "/worker.yaml";
  ::execl(settings_.binary.c_str(), settings_.binary.c_str(), "--config", config.c_str(), nullptr);
  ::_exit(127);
}

std::vector<model::WorkerInfo> WorkerUnderTest::nodes() {
  std::vector<model::WorkerInfo> all;
  const zk::Paths paths(cluster_);
  auto names = zk_->list(paths.workers(), zk::Watch::No);
  if (!names) {
    connect();  // our own session may have ended while the server was stopped
    names = zk_->list(paths.workers(), zk::Watch::No);
  }
  CHECK_OR_DIE(names.has_value(), "ZooKeeper lists the workers");
  for (const std::string& name : *names) {
    const auto key = model::worker_key_in(name);
    const auto node = zk_->get(paths.workers() + "/" + name, zk::Watch::No);
    if (!key || !node) continue;
    if (auto info = model::worker_from_json(*key, node->data)) all.push_back(*info);
  }
  return all;
}

model::WorkerKey WorkerUnderTest::join(FakeMaster& master, std::int64_t epoch,
                                       const std::string& than) {
  const bool is_here = eventually(
      [&] {
        for (const model::WorkerInfo& info : nodes()) {
          if (info.key.incarnation == than) continue;
          info_ = info;
          channel_ = std::make_unique<rpc::Channel<thrift::WorkerServiceClient>>(
              rpc::Endpoint{info.address.host, info.address.port});
          if (hello(master, epoch)) return true;
        }
        return false;
      },
      kPatience);
  return is_here ? info_.key : model::WorkerKey{};
}

std::optional<thrift::Inventory> WorkerUnderTest::hello(FakeMaster& master, std::int64_t epoch) {
  thrift::HelloRequest request;
  request.__set_epoch(epoch);
  request.__set_leader(master.address());
  request.__set_cluster_uuid("uuid-" + cluster_);
  request.__set_worker_id(info_.key.id);
  request.__set_incarnation(info_.key.incarnation);
  request.__set_grant_ms(settings_.vouching.grant.count());
  auto answer = channel_->call(
      [&](auto& client) {
        thrift::Inventory inventory;
        client.hello(inventory, request);
        return inventory;
      },
      kCallPatience);
  if (!answer || answer->worker.incarnation != info_.key.incarnation) return std::nullopt;
  return *answer;
}

thrift::DispatchItem WorkerUnderTest::command(std::int64_t run, std::vector<std::string> argv) {
  thrift::DispatchItem item;
  item.attempt.__set_run(run);
  item.attempt.__set_attempt(1);
  item.__set_job_name("job");
  item.__set_space("default");
  item.__set_kind("one_off");
  item.__set_kill_grace_ms(300);
  item.__isset.work = true;
  item.work.__set_argv(std::move(argv));
  return item;
}

thrift::DispatchItem WorkerUnderTest::handler(std::int64_t run, const std::string& name) {
  thrift::DispatchItem item = command(run, {});
  item.work.__set_handler(name);
  return item;
}

std::vector<std::string> WorkerUnderTest::dispatch_all(
    const std::vector<thrift::DispatchItem>& items) {
  thrift::DispatchRequest request;
  request.__set_epoch(1);
  request.__set_worker_id(info_.key.id);
  request.__set_incarnation(info_.key.incarnation);
  request.__set_items(items);
  std::vector<std::string> refusals;
  auto answers = channel_->call(
      [&](auto& client) {
        std::vector<thrift::DispatchAnswer> got;
        client.dispatch(got, request);
        return got;
      },
      kCallPatience);
  if (!answers) return {"rpc: " + answers.error().error.message};
  for (const auto& answer : *answers) refusals.push_back(answer.refusal);
  return refusals;
}

std::string WorkerUnderTest::dispatch(const thrift::DispatchItem& item, std::int64_t epoch) {
  thrift::DispatchRequest request;
  request.__set_epoch(epoch);
  request.__set_worker_id(info_.key.id);
  request.__set_incarnation(info_.key.incarnation);
  request.__set_items({item});
  auto answers = channel_->call(
      [&](auto& client) {
        std::vector<thrift::DispatchAnswer> got;
        client.dispatch(got, request);
        return got;
      },
      kCallPatience);
  return answers ? answers->front().refusal : "rpc: " + answers.error().error.message;
}

void WorkerUnderTest::cancel(std::int64_t run, Millis grace) {
  thrift::CancelRequest request;
  request.__set_epoch(1);
  request.__set_worker_id(info_.key.id);
  request.__set_incarnation(info_.key.incarnation);
  thrift::AttemptKey key;
  key.__set_run(run);
  key.__set_attempt(1);
  request.__set_attempts({key});
  request.__set_grace_ms(grace.count());
  (void)channel_->call([&](auto& client) { client.cancel(request); }, kCallPatience);
}

bool WorkerUnderTest::drain(bool draining, std::int64_t order) {
  thrift::DrainRequest request;
  request.__set_epoch(1);
  request.__set_worker_id(info_.key.id);
  request.__set_incarnation(info_.key.incarnation);
  request.__set_draining(draining);
  request.__set_order(order);
  return channel_->call([&](auto& client) { client.drain(request); }, kCallPatience).has_value();
}

thrift::Inventory WorkerUnderTest::inventory() {
  auto answer = channel_->call(
      [&](auto& client) {
        thrift::Inventory got;
        client.inventory(got, thrift::HelloRequest());
        return got;
      },
      kCallPatience);
  return answer ? *answer : thrift::Inventory();
}

bool WorkerUnderTest::wait_draining(Millis at_most) {
  return eventually(
      [&] {
        const auto all = nodes();
        return !all.empty() && all.front().draining;
      },
      at_most);
}

bool WorkerUnderTest::wait_finished(std::int64_t run) {
  return eventually(
      [&] {
        for (const auto& held : inventory().attempts) {
          if (held.attempt.run == run && held.state == "finished") return true;
        }
        return false;
      },
      kPatience);
}

/// The descendant of our child that runs with --proper.
pid_t WorkerUnderTest::proper() {
  pid_t found = -1;
  eventually(
      [&] {
        for (const std::string& name : names_in("/proc").value_or(Names{})) {
          const pid_t pid = ::atoi(name.c_str());
          if (pid <= 0) continue;
          const std::string words = text_of("/proc/" + name + "/cmdline");
          const std::string program = words.substr(0, words.find('\0'));
          if (program.ends_with("rota-warden")) continue;
          if (words.find("--proper") != std::string::npos &&
              words.find(folder_ + "/worker.yaml") != std::string::npos) {
            found = pid;
          }
        }
        return found > 0;
      },
      kPatience);
  return found;
}

pid_t WorkerUnderTest::parent_of(pid_t pid) {
  const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? 0 : ::atoi(stat.c_str() + name_end + 4);
}

std::vector<pid_t> WorkerUnderTest::living() const {
  const std::string token = worker::warden::state_token(folder_ + "/state") + ".";
  std::vector<pid_t> out;
  for (const auto& process : worker::warden::list_processes()) {
    const std::string mark = worker::warden::mark_in(process.identity.pid);
    if (!process.is_dead && mark.starts_with(token) && !mark.ends_with(".proper")) out.push_back(process.identity.pid);
  }
  return out;
}

bool WorkerUnderTest::is_up(pid_t pid) {
  const auto seen = worker::warden::look_at(pid);
  return seen && !seen->is_dead;
}

void WorkerUnderTest::signal(int signal) const { ::kill(pid_, signal); }

int WorkerUnderTest::wait_exit(Millis at_most) {
  int status = 0;
  const bool has_ended =
      eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, at_most);
  if (!has_ended) return -1;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string WorkerUnderTest::log_text() const { return text_of(folder_ + "/log"); }

}  // namespace rota::testing
