#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "client/command/commands.h"
#include "client/command/listing.h"
#include "client/command/show_json.h"
#include "client/command/worker_text.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

constexpr Millis kLookAgain{300};

Result<Millis> duration_or_none(const std::string& option, const std::string& text) {
  if (text.empty()) return Millis{0};
  auto duration = parse_duration(text);
  if (duration && *duration > Millis{0}) return *duration;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{} takes a duration such as 10m, not '{}'", option, printable(text)));
}

Result<std::int32_t> running_on(Desk& desk, const std::string& id) {
  auto workers = desk.cluster.list_workers();
  if (!workers) return fail(workers.error());
  std::int32_t running = 0;
  for (const auto& worker : *workers) {
    if (worker.key.id == id) running += worker.running;
  }
  return running;
}

int await_empty(Desk& desk, const std::string& id, Millis at_most) {
  const MonoTime end = BootClock::now() + at_most;
  while (true) {
    auto running = running_on(desk, id);
    if (!running) return complain(running.error());
    if (*running == 0) {
      note(fmt::format("nothing runs on {} now", printable(id)));
      return kOk;
    }
    if (at_most > Millis{0} && BootClock::now() >= end) {
      note(fmt::format("rota: still running on {}: {}; it stays drained (rota worker resume {}), and "
                       "--deadline hands over what is left",
                       printable(id), *running, printable(id)));
      return kTimedOut;
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

void show(Desk& desk, const std::string& id, const char* what, const thrift::DrainAnswer& answer) {
  if (desk.prints_data()) {
    print_data(desk.format, {{"worker", id},
                             {"what", answer.changed ? what : "unchanged"},
                             {"running", answer.running}});
    return;
  }
  print_text(fmt::format("{} {}; running there: {}\n", printable(id),
                         answer.changed ? what : "unchanged", answer.running));
}

/// A typing error must not drain a worker: a person at a terminal is asked.
bool may_drain(Desk& desk, const DrainArguments& arguments) {
  if (arguments.yes) return true;
  const auto running = running_on(desk, arguments.worker);
  const std::string question =
      fmt::format("Drain {} (attempts that run there: {})?", printable(arguments.worker),
                  running.value_or(0));
  return confirmed(desk, question);
}

}  // namespace

int worker_lives(Desk& desk, const std::string& worker) {
  auto lives = desk.cluster.list_lives(worker, 100);
  if (!lives) return complain(lives.error());
  if (lives->empty()) {
    return complain(Error(ErrorCode::NotFound, "no worker '" + worker + "' has ever been here"));
  }
  Listing list(desk, {"LIFE", "POOL", "ADDRESS", "JOINED", "LEFT", "WHY"});
  for (const auto& life : *lives) list.add([&life] { return to_json(life); }, life_cells(life));
  return list.finish();
}

int worker_drain(Desk& desk, const DrainArguments& arguments) {
  auto deadline = duration_or_none("--deadline", arguments.deadline);
  if (!deadline) return complain(deadline.error());
  auto at_most = duration_or_none("--wait-at-most", arguments.wait_at_most);
  if (!at_most) return complain(at_most.error());
  if (!may_drain(desk, arguments)) {
    note("nothing was changed; answer y, or add --yes to drain it without being asked");
    return kUsage;
  }
  auto answer = desk.cluster.drain_worker(arguments.worker, *deadline, arguments.why);
  if (!answer) return complain(answer.error());
  show(desk, arguments.worker, "drained", *answer);
  const bool waits = arguments.wait || !arguments.wait_at_most.empty();
  return waits ? await_empty(desk, arguments.worker, *at_most) : kOk;
}

int worker_resume(Desk& desk, const DrainArguments& arguments) {
  auto answer = desk.cluster.resume_worker(arguments.worker, arguments.why);
  if (!answer) return complain(answer.error());
  show(desk, arguments.worker, "resumed", *answer);
  return kOk;
}

int worker_forget(Desk& desk, const std::string& worker) {
  auto done = desk.cluster.forget_worker(worker);
  if (!done) return complain(done.error());
  if (desk.prints_data()) {
    print_data(desk.format, {{"worker", worker}, {"what", "forgotten"}});
  } else {
    print_text(fmt::format("{} forgotten\n", printable(worker)));
  }
  return kOk;
}

}  // namespace rota::client
