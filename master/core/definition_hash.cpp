#include "master/core/definition_hash.h"

#include <bit>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace rota::master::core {
namespace {

/// FNV-1a over a self-delimiting sequence: each value is preceded by its length or has a fixed one.
class Fingerprint {
 public:
  void add(const std::string& text) {
    add(static_cast<std::int64_t>(text.size()));
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  void add(std::int64_t number) {
    auto bits = static_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i, bits >>= 8) byte(static_cast<unsigned char>(bits & 0xff));
  }
  void add(double number) { add(std::bit_cast<std::int64_t>(number)); }
  void add(Millis duration) { add(static_cast<std::int64_t>(duration.count())); }
  void add(const std::optional<WallTime>& time) {
    add(static_cast<std::int64_t>(time.has_value()));
    add(time ? to_ms(*time) : 0);
  }
  void add(const std::map<std::string, std::string>& entries) {
    add(static_cast<std::int64_t>(entries.size()));
    for (const auto& [key, value] : entries) {
      add(key);
      add(value);
    }
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void add(Enum value) {
    add(static_cast<std::int64_t>(value));
  }
  std::uint64_t value() const { return hash_ == 0 ? 1 : hash_; }

 private:
  void byte(unsigned char b) { hash_ = (hash_ ^ b) * 1'099'511'628'211ull; }
  std::uint64_t hash_ = 14'695'981'039'346'656'037ull;
};

void add_schedule(Fingerprint& print, const model::Schedule& s) {
  print.add(s.kind);
  print.add(s.cron);
  print.add(s.dialect);
  print.add(s.time_zone);
  print.add(s.gap);
  print.add(s.fold);
  print.add(s.interval);
  print.add(s.start);
  print.add(s.end);
}

void add_rules(Fingerprint& print, const model::JobRules& r) {
  add_schedule(print, r.schedule);
  print.add(r.overlap);
  print.add(std::int64_t{r.queue_limit});
  print.add(r.late);
  print.add(r.tick_grace);
  print.add(r.pool);
  print.add(r.route);
  print.add(r.worker);
  print.add(std::int64_t{r.retry.count});
  print.add(r.retry.delay);
  print.add(r.retry.factor);
  print.add(r.retry.max_delay);
  print.add(r.timeout);
  print.add(r.kill_grace);
  print.add(r.loss);
  print.add(r.disconnect_grace);
  // What came later is added where it is not the default, so that older programs' hashes stay right, and with
  // its name, so that none is taken for another.
  if (r.keep_logs != Millis{0}) print.add(r.keep_logs);
  if (r.keep_runs != Millis{0}) {
    print.add(std::string("keep_runs"));
    print.add(r.keep_runs);
  }
  if (r.loss_most != model::kLossMost) {
    print.add(std::string("loss_most"));
    print.add(std::int64_t{r.loss_most});
  }
}

/// Only where it differs from what older programs knew, so that their stored hashes stay right.
void add_isolation(Fingerprint& print, const model::JobWork& w) {
  const model::JobWork plain;
  if (w.limits == plain.limits && w.nice == plain.nice && w.umask == plain.umask &&
      w.run_as == plain.run_as && w.keep_folder == plain.keep_folder) {
    return;
  }
  print.add(w.limits.memory_bytes);
  print.add(w.limits.address_space_bytes);
  print.add(std::int64_t{w.limits.processes});
  print.add(std::int64_t{w.limits.open_files});
  print.add(w.limits.cpu);
  print.add(w.limits.file_size_bytes);
  print.add(w.limits.folder_bytes);
  print.add(w.limits.core_bytes);
  print.add(std::int64_t{w.nice});
  print.add(std::int64_t{w.umask});
  print.add(w.run_as);
  print.add(w.keep_folder);
  if (w.limits.milli_cpus == 0) return;
  print.add(std::string("cpus"));
  print.add(std::int64_t{w.limits.milli_cpus});
}

void add_work(Fingerprint& print, const model::JobWork& w) {
  print.add(w.handler);
  print.add(static_cast<std::int64_t>(w.argv.size()));
  for (const std::string& argument : w.argv) print.add(argument);
  print.add(w.script);
  print.add(w.interpreter);
  print.add(w.environment);
  print.add(w.parameters);
  print.add(w.folder);
  print.add(std::int64_t{w.output_cap_bytes});
  add_isolation(print, w);
  if (w.isolation != model::Isolation::Worker) print.add(w.isolation);
}

}  // namespace

std::uint64_t definition_hash(const model::JobDefinition& definition) {
  Fingerprint print;
  print.add(definition.space);
  print.add(definition.name);
  print.add(definition.description);
  print.add(definition.owner);
  print.add(definition.labels);
  add_rules(print, definition.rules);
  add_work(print, definition.work);
  return print.value();
}

}  // namespace rota::master::core
