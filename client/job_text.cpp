// Writes a definition as the job file that read_job_file reads as the same.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/job_file.h"
#include "common/base/duration_text.h"
#include "common/base/size_text.h"

namespace rota::client {
namespace {

/// YAML lets a key of at most 1024 characters stand before its colon without a sign of its own.
constexpr std::size_t kLongestPlainKey = 1000;

/// A JSON string is a valid YAML scalar, whatever it holds.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Writer {
 public:
  void text(std::string_view key, const std::string& value, std::string_view unless = "") {
    if (value != unless) out_ += fmt::format("{}{}: {}\n", indent_, key, quoted(value));
  }
  void word(std::string_view key, const std::string& value, std::string_view unless) {
    if (value != unless) out_ += fmt::format("{}{}: {}\n", indent_, key, value);
  }
  void number(std::string_view key, std::int64_t value, std::int64_t unless) {
    if (value != unless) out_ += fmt::format("{}{}: {}\n", indent_, key, value);
  }
  void duration(std::string_view key, std::int64_t ms, std::int64_t unless) {
    if (ms != unless) out_ += fmt::format("{}{}: {}\n", indent_, key, format_duration(Millis{ms}));
  }
  void moment(std::string_view key, std::int64_t ms) {
    out_ += fmt::format("{}{}: {}\n", indent_, key, format_moment(wall_from_ms(ms)));
  }
  void map(std::string_view key, const std::map<std::string, std::string>& values) {
    if (values.empty()) return;
    out_ += fmt::format("{}{}:\n", indent_, key);
    for (const auto& [name, value] : values) {
      entry(quoted(name), quoted(value));
    }
  }
  void entry(const std::string& key, const std::string& value) {
    const bool is_plain = key.size() <= kLongestPlainKey;
    out_ += is_plain ? fmt::format("{}  {}: {}\n", indent_, key, value)
                     : fmt::format("{0}  ? {1}\n{0}  : {2}\n", indent_, key, value);
  }
  void list(std::string_view key, const std::vector<std::string>& values) {
    if (values.empty()) return;
    std::string line;
    for (const std::string& value : values) line += (line.empty() ? "" : ", ") + quoted(value);
    out_ += fmt::format("{}{}: [{}]\n", indent_, key, line);
  }
  void open(std::string_view key) {
    out_ += fmt::format("{}{}:\n", indent_, key);
    indent_ += "  ";
  }
  void close() { indent_.resize(indent_.size() - 2); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  std::string indent_;
};

void write_fires(Writer& out, const thrift::Schedule& schedule) {
  if (schedule.kind == "none") return;
  out.open("schedule");
  if (schedule.kind == "cron") out.text("cron", schedule.cron);
  if (schedule.kind == "fixed_rate") out.duration("every", schedule.interval_ms, -1);
  if (schedule.kind == "once") out.moment("at", schedule.start_ms);
  out.word("dialect", schedule.dialect, "guess");
  out.word("gap", schedule.gap, "run_at_end");
  out.word("fold", schedule.fold, "first");
  out.close();
}

void write_schedule(Writer& out, const thrift::Schedule& schedule) {
  write_fires(out, schedule);
  out.text("time_zone", schedule.time_zone, "UTC");
  if (schedule.__isset.start_ms && schedule.kind != "once") out.moment("start", schedule.start_ms);
  if (schedule.__isset.end_ms) out.moment("end", schedule.end_ms);
}

void write_retry(Writer& out, const thrift::Retry& retry) {
  const thrift::Retry plain;
  if (retry == plain) return;
  out.open("retry");
  out.number("count", retry.count, -1);
  out.duration("delay", retry.delay_ms, plain.delay_ms);
  if (retry.factor != plain.factor) out.word("factor", fmt::format("{}", retry.factor), "");
  out.duration("max_delay", retry.max_delay_ms, plain.max_delay_ms);
  out.close();
}

void write_loss(Writer& out, const thrift::Rules& rules) {
  const thrift::Rules plain;
  if (rules.loss_most == plain.loss_most) return out.word("loss", loss_word(rules), "rerun");
  out.open("loss");
  out.word("then", loss_word(rules), "rerun");
  out.number("most", rules.loss_most, plain.loss_most);
  out.close();
}

void write_rules(Writer& out, const thrift::Rules& rules) {
  const thrift::Rules plain;
  write_schedule(out, rules.schedule);
  out.word("overlap", rules.overlap, plain.overlap);
  out.number("queue_limit", rules.queue_limit, plain.queue_limit);
  out.word("late", rules.late, plain.late);
  out.duration("tick_grace", rules.tick_grace_ms, plain.tick_grace_ms);
  out.text("pool", rules.pool, plain.pool);
  if (rules.worker.empty()) out.word("route", rules.route, plain.route);
  out.text("worker", rules.worker);
  write_retry(out, rules.retry_rule);
  out.duration("timeout", rules.timeout_ms, plain.timeout_ms);
  out.duration("kill_grace", rules.kill_grace_ms, plain.kill_grace_ms);
  write_loss(out, rules);
  out.duration("disconnect_grace", rules.disconnect_grace_ms, plain.disconnect_grace_ms);
  const auto write_keep = [&](const char* name, std::int64_t keep_ms) {
    if (keep_ms < 0) {
      out.word(name, "forever", "");
    } else {
      out.duration(name, keep_ms, 0);
    }
  };
  write_keep("keep_logs", rules.keep_logs_ms);
  write_keep("keep_runs", rules.keep_runs_ms);
}

void write_limits(Writer& out, const thrift::Limits& limits) {
  if (limits == thrift::Limits()) return;
  const auto size = [&](std::string_view key, std::int64_t bytes) {
    if (bytes != 0) out.word(key, format_size(bytes), "");
  };
  out.open("limits");
  size("memory", limits.memory_bytes);
  size("address_space", limits.address_space_bytes);
  out.number("processes", limits.processes, 0);
  out.number("open_files", limits.open_files, 0);
  out.duration("cpu", limits.cpu_ms, 0);
  size("file_size", limits.file_size_bytes);
  size("folder", limits.folder_bytes);
  size("core", limits.core_bytes);
  if (limits.milli_cpus != 0) out.word("cpus", fmt::format("{}", limits.milli_cpus / 1000.0), "");
  out.close();
}

void write_work(Writer& out, const thrift::Work& work) {
  const thrift::Work plain;
  out.text("handler", work.handler, plain.handler);
  out.list("command", work.argv);
  out.text("script", work.script);
  out.text("interpreter", work.interpreter, plain.interpreter);
  out.map("environment", work.environment);
  out.map("parameters", work.parameters);
  out.text("folder", work.folder);
  out.number("output_cap_bytes", work.output_cap_bytes, plain.output_cap_bytes);
  write_limits(out, work.limits);
  out.number("nice", work.nice, plain.nice);
  if (work.umask != plain.umask) out.text("umask", fmt::format("{:03o}", work.umask));
  out.text("run_as", work.run_as);
  out.word("keep_folder", work.keep_folder, plain.keep_folder);
  out.word("isolation", work.isolation, plain.isolation);
}

}  // namespace

std::string loss_word(const thrift::Rules& rules) {
  return rules.loss == "after_fence" ? "rerun" : rules.loss;
}

std::string job_file_text(const thrift::JobDefinition& definition) {
  Writer out;
  out.text("name", definition.name);
  out.text("namespace", definition.space, "default");
  out.text("description", definition.description);
  out.text("owner", definition.owner);
  out.map("labels", definition.labels);
  write_rules(out, definition.rules);
  write_work(out, definition.work);
  return out.take();
}

}  // namespace rota::client
