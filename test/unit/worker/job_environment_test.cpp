#include "worker/run/job_environment.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>

#include "worker/run/command_plan.h"
#include "worker/run/set_sampler.h"

namespace rota::worker::run {

namespace {

using desk::Order;

Order an_order() {
  Order order;
  order.key = {RunId{42}, 3};
  order.job_name = "nightly";
  order.space = "default";
  order.kind = "tick";
  order.tick = wall_from_ms(1000);
  order.work.argv = {"true"};
  return order;
}

std::vector<std::string> lines_of(const Order& order, const EnvironmentBase& base = {}) {
  return job_environment(base, order, Epoch{7}, {"w1", "aa"}, "/work/1");
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

}  // namespace

TEST_CASE("job_environment: says who the attempt is") {
  const auto lines = lines_of(an_order());
  for (const char* line :
       {"ROTA_RUN_ID=42", "ROTA_ATTEMPT=3", "ROTA_EPOCH=7", "ROTA_JOB=nightly", "ROTA_TICK_MS=1000",
        "ROTA_WORKER=w1", "ROTA_INCARNATION=aa", "ROTA_RUN_KIND=tick", "ROTA_WORK_FOLDER=/work/1"}) {
    CHECK_MESSAGE(has(lines, line), line);
  }
  for (const std::string& line : lines) CHECK_FALSE(line.starts_with("ROTA_SCHEDULE="));
  Order of_entries = an_order();
  of_entries.schedule = "open,2";
  CHECK(has(lines_of(of_entries), "ROTA_SCHEDULE=open,2"));
  for (const std::string& line : lines) CHECK_FALSE(line.starts_with("ROTA_PARENT"));
  Order of_child = an_order();
  of_child.parent = RunId{41};
  of_child.parent_state = "failed";
  CHECK(has(lines_of(of_child), "ROTA_PARENT_RUN=41"));
  CHECK(has(lines_of(of_child), "ROTA_PARENT_STATE=failed"));
  Order by_hand = an_order();
  by_hand.tick.reset();
  for (const std::string& line : lines_of(by_hand)) CHECK_FALSE(line.starts_with("ROTA_TICK_MS"));
}

TEST_CASE("job_environment: only the allow list passes, the job overrides it, nobody overrides Rota") {
  const char* environment[] = {"HOME=/root", "SECRET=x", "LANG=C", "broken", nullptr};
  const EnvironmentBase base = environment_base({"HOME", "LANG"}, environment);
  Order order = an_order();
  order.work.environment = {{"LANG", "de"}, {"ROTA_RUN_ID", "1"}};
  const auto lines = lines_of(order, base);
  CHECK(has(lines, "HOME=/root"));
  CHECK(has(lines, "LANG=de"));
  CHECK(has(lines, "ROTA_RUN_ID=42"));
  for (const std::string& line : lines) CHECK_FALSE(line.starts_with("SECRET"));
  CHECK(base.allowed.contains("PATH"));
}

TEST_CASE("job_environment: parameters become variables") {
  CHECK(parameter_variable("day-of.Week 2") == "ROTA_PARAM_DAY_OF_WEEK_2");
  Order order = an_order();
  order.parameters = {{"who", "a b"}};
  CHECK(has(lines_of(order), "ROTA_PARAM_WHO=a b"));
}

TEST_CASE("command_plan: names what can never be started") {
  model::JobWork work;
  CHECK(trouble_with(work));
  work.argv = {std::string("a\0b", 3)};
  CHECK(trouble_with(work));
  work.argv = {"true"};
  CHECK_FALSE(trouble_with(work));
  work.environment = {{"A=B", "x"}};
  CHECK(trouble_with(work));
  work.environment.clear();
  work.argv.clear();
  work.script = "exit 0";
  CHECK_FALSE(trouble_with(work));
  work.interpreter = "  ";
  CHECK(trouble_with(work));
  work.handler = "noop";
  CHECK_FALSE(trouble_with(work));
  work.run_as = "nobody";
  CHECK(trouble_with(work).value_or("").starts_with("run_as:"));
  work.isolation = model::Isolation::Process;
  CHECK_FALSE(trouble_with(work));
}

TEST_CASE("command_plan: a script goes to its interpreter's words") {
  Order order = an_order();
  order.work.argv.clear();
  order.work.interpreter = "/usr/bin/env bash -e";
  order.work.folder = "/srv";
  const auto start = plan_command(order, {"/work/1", "/work/1/.rota-script"}, {}, Epoch{7}, {});
  CHECK(start.argv == std::vector<std::string>{"/usr/bin/env", "bash", "-e", "/work/1/.rota-script"});
  CHECK(start.folder == "/srv");
}

TEST_CASE("command_plan: a handler in a process of its own is this program once more") {
  Order order = an_order();
  order.work.argv.clear();
  order.work.handler = "report";
  order.work.isolation = model::Isolation::Process;
  order.work.environment["ROTA_FACTS_FILE"] = "/somewhere/else";
  WorkPlace place{"/work/1"};
  place.facts_file = "/work/1/.rota-facts";
  const auto start = plan_command(order, place, {}, Epoch{7}, {}, "/bin/own");
  CHECK(start.argv == std::vector<std::string>{"/bin/own", "--handler", "report"});
  std::vector<std::string> named;
  for (const std::string& line : start.environment) {
    if (line.starts_with("ROTA_FACTS_FILE")) named.push_back(line);
  }
  CHECK(named == std::vector<std::string>{"ROTA_FACTS_FILE=/work/1/.rota-facts"});
  CHECK(decode_note(start.note)->is_handler);
  CHECK_FALSE(trouble_with(order.work));
  order.work.environment["A=B"] = "x";
  CHECK(trouble_with(order.work));
}

TEST_CASE("command_plan: a note survives the warden") {
  const auto note = decode_note(encode_note({{"w1", "aa"}, 77}));
  REQUIRE(note);
  CHECK(note->life == model::WorkerKey{"w1", "aa"});
  CHECK(note->cap_bytes == 77);
  CHECK_FALSE(decode_note("2\nw1\naa\n77\n"));
  CHECK_FALSE(decode_note(""));
}

TEST_CASE("command_plan: limits, grace and folder survive the warden too; an older note has none") {
  AttemptNote note{{"w1", "aa"}, 77};
  note.kill_grace = Millis{1234};
  note.limits.memory_bytes = 1 << 30;
  note.limits.processes = 5;
  note.limits.cpu = Millis{6000};
  note.limits.folder_bytes = 7;
  note.limits.milli_cpus = 250;
  note.keep_folder = model::KeepFolder::OnFailure;
  note.folder = "/jobs/a b/1";
  const auto read = decode_note(encode_note(note));
  REQUIRE(read);
  CHECK(read->kill_grace == note.kill_grace);
  CHECK(read->limits == note.limits);
  CHECK(read->keep_folder == note.keep_folder);
  CHECK(read->folder == note.folder);
  CHECK_FALSE(read->is_handler);
  note.is_handler = true;
  CHECK(decode_note(encode_note(note))->is_handler);
  CHECK(decode_note(encode_note(note))->demand.is_plain());
  note.demand = {3, {{"gpu", 1}, {"memory", std::int64_t{8} << 30}}};
  CHECK(decode_note(encode_note(note))->demand == note.demand);
  CHECK(decode_note(encode_note(note))->limits == note.limits);
  // As the program before wrote it.
  const auto before = decode_note("1\nw1\naa\n77\n10 1 2 3 4 1\n/jobs/1\nhandler\n");
  REQUIRE(before);
  CHECK(before->is_handler);
  CHECK(before->limits.milli_cpus == 0);
  const auto older = decode_note("1\nw1\naa\n77\n");
  REQUIRE(older);
  CHECK(older->limits == model::JobLimits{});
  CHECK(older->folder.empty());
  CHECK_FALSE(older->is_handler);
}

TEST_CASE("command_plan: the kernel's limits, the user and his home come from the job") {
  Order order = an_order();
  order.work.limits.open_files = 64;
  order.work.limits.cpu = Millis{1500};
  order.work.limits.milli_cpus = 750;
  order.work.nice = 3;
  order.work.umask = 077;
  order.work.run_as = "deploy";
  WorkPlace place{"/work/1", ""};
  place.user = warden::User{1000, 1000, {4}};
  place.home = "/srv/deploy";
  const auto start = plan_command(order, place, {}, Epoch{7}, {});
  CHECK(start.nice == 3);
  CHECK(start.milli_cpus == 750);
  CHECK(start.umask == 077);
  CHECK(start.user == place.user);
  CHECK(std::ranges::count(start.environment, std::string("HOME=/srv/deploy")) == 1);
  CHECK(std::ranges::count(start.limits, warden::Limit{RLIMIT_NOFILE, 64, 64}) == 1);
  CHECK(std::ranges::count(start.limits, warden::Limit{RLIMIT_CORE, 0, 0}) == 1);
  CHECK(std::ranges::count(start.limits, warden::Limit{RLIMIT_CPU, 2, 7}) == 1);
}

TEST_CASE("set_sampler: what belongs to a set: all below it, its session, and whom it was seen with") {
  using warden::SeenProcess;
  const auto process = [](pid_t pid, pid_t parent, pid_t session) {
    return SeenProcess{{pid, 1}, parent, session, false, 0, 0};
  };
  const std::vector<SeenProcess> all = {process(10, 2, 10), process(11, 10, 10), process(12, 11, 12),
                                        process(13, 2, 10), process(14, 2, 14), process(15, 14, 14),
                                        process(20, 2, 20)};
  const SampledSet set{10, true, {}, ""};
  const ProcessTree tree(all);
  const auto pids = [&](const std::set<warden::ProcessIdentity>& known) {
    std::set<pid_t> out;
    for (const SeenProcess* member : tree.members_of(set, known)) out.insert(member->identity.pid);
    return out;
  };
  CHECK(pids({}) == std::set<pid_t>{10, 11, 12, 13});
  CHECK(pids({{14, 1}}) == std::set<pid_t>{10, 11, 12, 13, 14, 15});
  CHECK(pids({{14, 9}}) == std::set<pid_t>{10, 11, 12, 13});  // another process of that number
}

}  // namespace rota::worker::run
