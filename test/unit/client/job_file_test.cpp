#include "client/job_file.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace rota::client {
namespace {

JobFile read(const std::string& text, config::Problems& problems) {
  return read_job_file("job.yaml", text, problems);
}

JobFile read_good(const std::string& text) {
  config::Problems problems;
  JobFile file = read(text, problems);
  CHECK_MESSAGE(problems.empty(), problems.text());
  return file;
}

std::string problems_of(const std::string& text) {
  config::Problems problems;
  (void)read(text, problems);
  return problems.text();
}

}  // namespace

TEST_CASE("job file: name, command and schedule are enough") {
  const auto file = read_good("name: hello\nschedule: \"*/5 * * * *\"\ncommand: [/bin/echo, hi]\n");
  REQUIRE(file.jobs.size() == 1);
  const auto& job = file.jobs[0];
  CHECK(job.name == "hello");
  CHECK(job.space == "default");
  CHECK(job.rules.schedule.kind == "cron");
  CHECK(job.rules.schedule.cron == "*/5 * * * *");
  CHECK(job.work.argv == std::vector<std::string>{"/bin/echo", "hi"});
  CHECK(job.rules.overlap == "skip");
}

TEST_CASE("job file: a command in one line is a text for the interpreter") {
  const auto file = read_good("name: a\ncommand: echo $HOME | wc -c\n");
  CHECK(file.jobs[0].work.argv.empty());
  CHECK(file.jobs[0].work.script == "echo $HOME | wc -c");
  CHECK(file.jobs[0].work.interpreter == "/bin/sh");
}

TEST_CASE("job file: two jobs of one name, or none at all, are told with their place") {
  const std::string two = "jobs:\n  - name: a\n    command: [x]\n  - name: b\n    command: [x]\n  - name: a\n    command: [y]\n";
  CHECK(problems_of(two) ==
        "job.yaml:6:5 jobs[2].name: \"a\" is the name of jobs[0] (line 2) too; give each job a name of its own\n");
  CHECK(read_good(two + "    namespace: other\n").jobs.size() == 3);
  CHECK(problems_of("jobs: []\n").find("the list is empty") != std::string::npos);
}

TEST_CASE("job file: what is no map, or holds a wrong word, is told once") {
  CHECK(problems_of("- name: a\n") == "job.yaml:1:1: a list stands here; write `jobs:` above it\n");
  CHECK(problems_of("jobs: [17]\n") ==
        "job.yaml:1:8 jobs[0]: found a single value; a map (key: value) is expected\n");
  CHECK(problems_of("name: a\ncommand: [x, null]\n") ==
        "job.yaml:2:14 command[1]: found nothing; a text is expected\n");
  CHECK(problems_of("name: a\ncommand: {x: y}\n").find("is empty") == std::string::npos);
}

TEST_CASE("job file: a file that holds only jobs: is told, and harms nobody") {
  CHECK(problems_of("jobs:\n") == "job.yaml:2:1 jobs: the list is empty; a job begins with `- name:`\n");
  CHECK(problems_of("jobs: ~\n").find("the list is empty") != std::string::npos);
  CHECK(problems_of("jobs: x\n").find("must be a list of jobs") != std::string::npos);
  CHECK(problems_of("jobs: {a: b}\n").find("must be a list of jobs") != std::string::npos);
}

TEST_CASE("job file: of a thousand problems a hundred are told, and the others counted") {
  std::string text = "jobs:\n";
  for (int i = 0; i < 10'000; ++i) text += "  - " + std::string(30, 'x') + "\n";
  config::Problems problems;
  const JobFile file = read(text, problems);
  CHECK(problems.size() >= 10'000);
  CHECK(file.jobs.empty());  // nothing is kept that nobody may use
  const std::string told = problems.text();
  CHECK(std::count(told.begin(), told.end(), '\n') == 101);
  CHECK(told.size() < 150'000);
  CHECK(told.ends_with("9,900 more problems\n"));
}

TEST_CASE("job file: keys and values of a file that are no text for a screen are shown as such") {
  const std::string text = problems_of("name: a\ncommand: [x]\n\"ev\\e[31mil\": 1\noverlap: \"\\x07\"\n");
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("ev\\x1b[31mil") != std::string::npos);
  CHECK(text.find("\\x07") != std::string::npos);
  CHECK(problems_of("? " + std::string(100'000, 'k') + "\n: 1\n").size() < 10'000);
}

TEST_CASE("job file: a moment that is wrong is not also told to be missing") {
  const std::string text = problems_of("name: a\ncommand: [x]\nschedule: {at: 2026-03-29T02:30:00}\n");
  CHECK(text.find("is no moment") != std::string::npos);
  CHECK(text.find("exactly one") == std::string::npos);
  CHECK(problems_of("name: a\ncommand: [x]\nschedule: {cron: '* * * * *', every: 5s}\n").find("exactly one") !=
        std::string::npos);
  CHECK(problems_of("name: a\ncommand: [x]\nschedule: {}\n").find("exactly one") != std::string::npos);
}

TEST_CASE("job file: a key of the job that stands under schedule is told where it belongs") {
  const std::string text =
      problems_of("name: a\ncommand: [x]\nschedule: {cron: '* * * * *', pool: other}\n");
  CHECK(text == "job.yaml:3:37 schedule.pool: is a key of the job: write `pool:` beside `schedule:`, "
                "not in it\n");
}

TEST_CASE("job file: a schedule of entries, with the job's own keys as their defaults") {
  const auto job = read_good(R"(name: a
command: [x]
time_zone: Europe/Berlin
end: 2027-01-01T00:00:00Z
schedule:
  - {name: open, every: 5m, between: "09:30-16:00", time_zone: America/New_York}
  - {working_day: -1, time: "18:00"}
  - "30 2 * * *"
  - {at: 2026-01-01T00:00:00Z, name: once}
  - {cron: "H H(0-7) * * *", dialect: unix, skipped_time: skip, repeated_time: both}
  - {cron: "0 9 * * *", calendar: {use: [cn, nyse], otherwise: previous, day: -1}, end: 2026-01-01T00:00:00Z}
  - {after_end: 10m, jitter: 30s, calendar: cn}
  - "@worker_start"
)").jobs[0];
  CHECK(job.rules.schedule.kind == "entries");
  CHECK(job.rules.schedule.time_zone == "UTC");
  CHECK_FALSE(job.rules.schedule.__isset.end_ms);
  const std::vector<std::string> expected = {
      "every 5m; between 09:30-16:00; time_zone America/New_York; end 2027-01-01T00:00:00.000Z; name open",
      "working_day -1; time 18:00; time_zone Europe/Berlin; end 2027-01-01T00:00:00.000Z",
      "cron 30 2 * * *; time_zone Europe/Berlin; end 2027-01-01T00:00:00.000Z",
      "at 2026-01-01T00:00:00.000Z; time_zone Europe/Berlin; end 2027-01-01T00:00:00.000Z; name once",
      "cron H H(0-7) * * *; time_zone Europe/Berlin; dialect unix; skipped_time skip; repeated_time both; "
      "end 2027-01-01T00:00:00.000Z",
      "cron 0 9 * * *; time_zone Europe/Berlin; calendars cn,nyse; otherwise previous; day -1; "
      "end 2026-01-01T00:00:00.000Z",
      "after_end 10m; time_zone Europe/Berlin; calendars cn; jitter 30s; end 2027-01-01T00:00:00.000Z",
      "worker_start; time_zone Europe/Berlin; end 2027-01-01T00:00:00.000Z"};
  CHECK(job.rules.schedule.entries == expected);
  const std::string text = job_file_text(job);
  CHECK_MESSAGE(read_good(text).jobs[0] == job, text);
}

TEST_CASE("job file: what one cron can say stays a cron, in a list and with its own zone too") {
  const auto job = read_good("name: a\ncommand: [x]\nschedule: [{cron: '0 2 * * *', time_zone: Asia/Tokyo}]\n").jobs[0];
  CHECK(job.rules.schedule.kind == "cron");
  CHECK(job.rules.schedule.time_zone == "Asia/Tokyo");
  CHECK(job.rules.schedule.entries.empty());
  const auto spread = read_good("name: a\ncommand: [x]\nschedule: 'H 2 * * *'\n").jobs[0];
  CHECK(spread.rules.schedule.entries == std::vector<std::string>{"cron H 2 * * *"});
  const auto quartz = read_good("name: a\ncommand: [x]\nschedule: {cron: '0 2 * * *', skipped_time: quartz}\n").jobs[0];
  CHECK(quartz.rules.schedule.entries == std::vector<std::string>{"cron 0 2 * * *; skipped_time quartz"});
}

TEST_CASE("job file: what is wrong with an entry is told with its place") {
  const auto told = [](const std::string& schedule) { return problems_of("name: a\ncommand: [x]\nschedule: " + schedule + "\n"); };
  CHECK(told("[]") == "job.yaml:3:11 schedule: the list is empty; leave it out for a job without one\n");
  CHECK(told("[{every: 5s, cron: '* * * * *'}]") ==
        "job.yaml:3:12 schedule[0]: give exactly one of cron, every, at, after_end and working_day\n");
  CHECK(told("['@daily', {working_day: 1, time: '25:00'}]") ==
        "job.yaml:3:45 schedule[1].time: \"25:00\" is not a time of day; write it as \"18:00\"\n");
  CHECK(told("[{every: 5s, between: '9-10'}]") ==
        "job.yaml:3:33 schedule[0].between: \"9-10\" is not two times of day; write them as \"09:30-16:00\"\n");
  CHECK(told("[{cron: '0 2 * * *', gap: skip}]") ==
        "job.yaml:3:37 schedule[0].gap: is called skipped_time now; write skipped_time\n");
  CHECK(told("[{every: 5s, calender: cn}]").find("schedule[0].calender") != std::string::npos);
  CHECK(told("[{cron: '0 2 * * *', calendar: {otherwise: next}}]") ==
        "job.yaml:3:42 schedule[0].calendar.use: is missing; give the names of the calendars\n");
  CHECK(told("[{cron: '0 2 * * *', calendar: {use: cn, otherwise: later}}]") ==
        "job.yaml:3:63 schedule[0].calendar.otherwise: later is not known here; write one of skip, next, previous\n");
  CHECK(told("[{cron: '0 2 * * *', calendar: 'c n'}]").find("schedule[0].calendar: ") != std::string::npos);
  CHECK(told("[{cron: '0 2 * * *', jitter: 25h}]").find("schedule[0].jitter: ") != std::string::npos);
  CHECK(told("['@never']").find("job.yaml:3:12 schedule[0]: '@never' is unknown") == 0);
  CHECK(told("[{at: 2026-01-01T00:00:00Z, start: 2026-01-01T00:00:00Z}]").find("it does not go with at") !=
        std::string::npos);
}

TEST_CASE("job file: bytes that are no UTF-8 are refused with their place") {
  CHECK(problems_of("name: a\ndescription: gr\xC3\xBC\xFFn\n") ==
        "job.yaml:2:17: this is not UTF-8: byte 0xff at offset 25 is part of no character; save the file as UTF-8\n");
}

TEST_CASE("job file: every kind of schedule") {
  SUBCASE("fixed rate with an anchor") {
    const auto job =
        read_good("name: a\ncommand: [x]\nschedule: '@every 90s'\nstart: 2026-01-01T00:00:00Z\n").jobs[0];
    CHECK(job.rules.schedule.kind == "fixed_rate");
    CHECK(job.rules.schedule.interval_ms == 90'000);
    CHECK(job.rules.schedule.start_ms == 1'767'225'600'000);
  }
  SUBCASE("once") {
    const auto job = read_good("name: a\ncommand: [x]\nschedule: {at: 2026-01-01T00:00:00Z}\n").jobs[0];
    CHECK(job.rules.schedule.kind == "once");
    CHECK(job.rules.schedule.start_ms == 1'767'225'600'000);
  }
  SUBCASE("a cron with its rules") {
    const auto job = read_good(
        "name: a\ncommand: [x]\nschedule: {cron: '30 2 * * *', skipped_time: skip, repeated_time: both}\n"
        "time_zone: Europe/Berlin\n").jobs[0];
    CHECK(job.rules.schedule.gap == "skip");
    CHECK(job.rules.schedule.fold == "both");
    CHECK(job.rules.schedule.time_zone == "Europe/Berlin");
  }
}

TEST_CASE("job file: all problems are told at once, with place and remedy") {
  const std::string text =
      problems_of("name: a\nschdule: '@every 5s'\ncommand: [x]\noverlap: sometimes\ntimeout: 5 parsecs\n");
  CHECK(text.find("job.yaml:2:1") != std::string::npos);
  CHECK(text.find("did you mean schedule") != std::string::npos);
  CHECK(text.find("job.yaml:4:10") != std::string::npos);
  CHECK(text.find("queue") != std::string::npos);
  CHECK(text.find("job.yaml:5:10") != std::string::npos);
}

TEST_CASE("job file: contradictions are refused") {
  CHECK(problems_of("name: a\ncommand: [x]\nscript: y\n").find("not both") != std::string::npos);
  CHECK(problems_of("name: a\ncommand: [x]\nroute: named\n").find("worker") != std::string::npos);
  CHECK(problems_of("name: a\ncommand: [x]\nschedule: {cron: '* * * * *', every: 5s}\n")
            .find("exactly one") != std::string::npos);
  CHECK(problems_of("command: [x]\n").find("name") != std::string::npos);
  CHECK(problems_of("name: a\n").find("command") != std::string::npos);
  CHECK(problems_of("name: a\nname: b\ncommand: [x]\n").find("job.yaml:2:1") != std::string::npos);
}

TEST_CASE("job file: limits and the like are refused with line, range and remedy") {
  const std::string text = problems_of(
      "name: a\ncommand: [x]\nlimits:\n  memory: 12parsecs\n  processes: 0\n  folder: 1KiB\n"
      "  speed: 9\numask: 999\nnice: 40\nkeep_folder: sometimes\n");
  for (const char* part : {"4:11", "like 512MiB", "5:14", "1 to 1000000", "6:11", "4KiB", "7:3", "8:8",
                           "like 027", "9:7", "10:14", "on_failure"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part << "\n" << text);
  }
}

TEST_CASE("job file: cpus is a share of cores, down to thousandths") {
  const auto cpus = [](const std::string& text) {
    return "name: a\ncommand: [x]\nlimits:\n  cpus: " + text + "\n";
  };
  CHECK(read_good(cpus("0.5")).jobs[0].work.limits.milli_cpus == 500);
  CHECK(read_good(cpus("0.01")).jobs[0].work.limits.milli_cpus == 10);
  CHECK(read_good(cpus("1.001")).jobs[0].work.limits.milli_cpus == 1001);
  CHECK(read_good(cpus("16")).jobs[0].work.limits.milli_cpus == 16'000);
  for (const char* wrong : {"0", "0.009", "-1", "1001", "half", "50%"}) {
    const std::string text = problems_of(cpus(wrong));
    CHECK_MESSAGE(text.find("4:9") != std::string::npos, text);
    CHECK_MESSAGE(text.find("0.01 to 1000") != std::string::npos, text);
  }
  const std::string text = problems_of(cpus("0.2504"));
  CHECK_MESSAGE(text.find("finer than a thousandth of a core; write 0.25") != std::string::npos, text);
}

TEST_CASE("job file: what is written reads as the same") {
  const auto jobs = read_good(R"(
jobs:
  - name: "quotes ' and \" and \\ and '; DROP TABLE run"
    description: "zwei\nZeilen"
    owner: me
    labels: {a: b}
    schedule: {cron: "0 30 7 ? * MON-FRI", dialect: quartz, repeated_time: second}
    time_zone: Europe/Berlin
    start: 2026-01-01T00:00:00Z
    end: 2027-01-01T00:00:00Z
    overlap: queue
    queue_limit: 5
    late: skip
    tick_grace: 5s
    worker: w1
    retry: {count: 3, delay: 5s, factor: 1.5, max_delay: 1m}
    timeout: 1h30m
    kill_grace: 1s
    loss: never
    disconnect_grace: 2d
    keep_logs: 90d
    keep_runs: 400d
    command: ["a b", "", "c'd"]
    environment: {X: "1"}
    parameters: {p: "q"}
    folder: /tmp
    output_cap_bytes: 2048
    limits: {memory: 512MiB, address_space: 1GiB, processes: 10, open_files: 64, cpu: 1m, file_size: 1000, folder: 2GiB, core: 1KiB, cpus: 0.25}
    nice: 5
    umask: 027
    run_as: deploy
    keep_folder: on_failure
  - name: b
    schedule: "@every 1h"
    script: |
      echo one
      echo two
    interpreter: python3
    keep_logs: forever
  - name: c
    handler: report
    isolation: process
    keep_logs: forever
)").jobs;
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[2].work.isolation == "process");
  for (const auto& job : jobs) {
    const auto again = read_good(job_file_text(job)).jobs;
    REQUIRE(again.size() == 1);
    CHECK(again[0] == job);
  }
}

TEST_CASE("job file: a long key of control characters is written so that it is read again") {
  const std::string key(400, '\x0e');
  const auto jobs = read_good("name: a\ncommand: x\nparameters: {\"" + key + "\": b}\n").jobs;
  REQUIRE(jobs.at(0).work.parameters.at(key) == "b");
  CHECK(read_good(job_file_text(jobs.at(0))).jobs.at(0) == jobs.at(0));
}

TEST_CASE("job file: an empty name is told as such") {
  for (const std::string name : {"\"\"", "!"}) {
    CHECK(problems_of("name: " + name + "\ncommand: x\n") ==
          "job.yaml:1:7 name: is empty; give the job's name, unique in its namespace\n");
  }
}

TEST_CASE("job file: the loss policy is a word, or a map with the most losses") {
  const auto rules_of = [](const std::string& loss) {
    return read_good("name: a\ncommand: x\nloss: " + loss + "\n").jobs.at(0).rules;
  };
  CHECK(rules_of("rerun") == thrift::Rules());
  CHECK(rules_of("after_fence") == thrift::Rules());
  CHECK(rules_of("never").loss == "never");
  CHECK(rules_of("{then: confirm}").loss == "confirm");
  CHECK(rules_of("{most: 7}").loss_most == 7);
  CHECK(rules_of("{then: rerun, most: 1}").loss_most == 1);
  for (const char* loss : {"never", "confirm", "{most: 7}", "{then: confirm, most: 2}"}) {
    CAPTURE(loss);
    const auto job = read_good(std::string("name: a\ncommand: x\nloss: ") + loss + "\n").jobs.at(0);
    CHECK(read_good(job_file_text(job)).jobs.at(0) == job);
  }
  CHECK(job_file_text(read_good("name: a\ncommand: x\nloss: {then: confirm, most: 2}\n").jobs.at(0))
            .find("loss:\n  then: confirm\n  most: 2\n") != std::string::npos);
}

TEST_CASE("job file: a loss policy that says nothing of use is refused where it stands") {
  const auto wrong_with = [](const std::string& loss) {
    return problems_of("name: a\ncommand: x\nloss: " + loss + "\n");
  };
  CHECK(wrong_with("sometimes").find("rerun, never, confirm") != std::string::npos);
  CHECK(wrong_with("{then: never, most: 3}").find("remove it") != std::string::npos);
  CHECK(wrong_with("{most: 0}").find("loss.most") != std::string::npos);
  CHECK(wrong_with("{than: never}").find("then") != std::string::npos);
}

}  // namespace rota::client
