#include "common/wire/content_hash.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <vector>

#include "common/base/check.h"
#include "common/wire/job_wire.h"

namespace rota::wire {
namespace {

constexpr std::string_view kHashVersion = "1:";

/// Appends fields as `id type length:bytes`, so that no two contents give the same text.
class Canonical {
 public:
  template <typename T>
  void field(int id, const T& value, const T& standard) {
    if (value == standard) return;
    out_ += fmt::format("{}=", id);
    put(value);
  }

  template <typename T>
  void optional_field(int id, bool is_set, const T& value) {
    if (!is_set) return;
    out_ += fmt::format("{}=", id);
    put(value);
  }

  template <typename Inner>
  void group(int id, Inner inner) {
    out_ += fmt::format("{}{{", id);
    inner();
    out_ += '}';
  }

  const std::string& text() const { return out_; }

 private:
  void put(const std::string& value) { out_ += fmt::format("s{}:{}", value.size(), value); }
  void put(std::int64_t value) { out_ += fmt::format("i{};", value); }
  void put(std::int32_t value) { put(std::int64_t{value}); }
  void put(double value) { out_ += fmt::format("d{};", value); }
  void put(const std::vector<std::string>& values) {
    out_ += fmt::format("l{}:", values.size());
    for (const std::string& value : values) put(value);
  }
  void put(const std::map<std::string, std::string>& values) {
    out_ += fmt::format("m{}:", values.size());
    for (const auto& [key, value] : values) {
      put(key);
      put(value);
    }
  }

  std::string out_;
};

// The numbers are those of thrift/job.thrift.
void put(Canonical& out, const thrift::Schedule& in) {
  const thrift::Schedule standard;
  out.field(1, in.kind, standard.kind);
  out.field(2, in.cron, standard.cron);
  out.field(3, in.dialect, standard.dialect);
  out.field(4, in.time_zone, standard.time_zone);
  out.field(5, in.gap, standard.gap);
  out.field(6, in.fold, standard.fold);
  out.field(7, in.interval_ms, standard.interval_ms);
  out.optional_field(8, in.__isset.start_ms, in.start_ms);
  out.optional_field(9, in.__isset.end_ms, in.end_ms);
}

void put(Canonical& out, const thrift::Retry& in) {
  const thrift::Retry standard;
  out.field(1, in.count, standard.count);
  out.field(2, in.delay_ms, standard.delay_ms);
  out.field(3, in.factor, standard.factor);
  out.field(4, in.max_delay_ms, standard.max_delay_ms);
}

void put(Canonical& out, const thrift::Rules& in) {
  const thrift::Rules standard;
  out.group(1, [&] { put(out, in.schedule); });
  out.field(2, in.overlap, standard.overlap);
  out.field(3, in.queue_limit, standard.queue_limit);
  out.field(4, in.late, standard.late);
  out.field(5, in.tick_grace_ms, standard.tick_grace_ms);
  out.field(6, in.pool, standard.pool);
  out.field(7, in.route, standard.route);
  out.field(8, in.worker, standard.worker);
  out.group(9, [&] { put(out, in.retry_rule); });
  out.field(10, in.timeout_ms, standard.timeout_ms);
  out.field(11, in.kill_grace_ms, standard.kill_grace_ms);
  out.field(12, in.loss, standard.loss);
  out.field(13, in.disconnect_grace_ms, standard.disconnect_grace_ms);
  out.field(14, in.keep_logs_ms, standard.keep_logs_ms);
  out.field(15, in.keep_runs_ms, standard.keep_runs_ms);
  out.field(16, in.loss_most, standard.loss_most);
}

void put(Canonical& out, const thrift::Limits& in) {
  const thrift::Limits standard;
  out.field(1, in.memory_bytes, standard.memory_bytes);
  out.field(2, in.address_space_bytes, standard.address_space_bytes);
  out.field(3, in.processes, standard.processes);
  out.field(4, in.open_files, standard.open_files);
  out.field(5, in.cpu_ms, standard.cpu_ms);
  out.field(6, in.file_size_bytes, standard.file_size_bytes);
  out.field(7, in.folder_bytes, standard.folder_bytes);
  out.field(8, in.core_bytes, standard.core_bytes);
  out.field(9, in.milli_cpus, standard.milli_cpus);
}

void put(Canonical& out, const thrift::Work& in) {
  const thrift::Work standard;
  out.field(1, in.handler, standard.handler);
  out.field(2, in.argv, standard.argv);
  out.field(3, in.script, standard.script);
  out.field(4, in.interpreter, standard.interpreter);
  out.field(5, in.environment, standard.environment);
  out.field(6, in.parameters, standard.parameters);
  out.field(7, in.folder, standard.folder);
  out.field(8, in.output_cap_bytes, standard.output_cap_bytes);
  // Left out when nothing is limited, so that the hashes of older definitions stay what they were.
  if (in.limits != standard.limits) out.group(20, [&] { put(out, in.limits); });
  out.field(21, in.nice, standard.nice);
  out.field(22, in.umask, standard.umask);
  out.field(23, in.run_as, standard.run_as);
  out.field(24, in.keep_folder, standard.keep_folder);
  out.field(25, in.isolation, standard.isolation);
}

void put(Canonical& out, const model::JobDefinition& definition) {
  const thrift::JobDefinition in = to_wire(definition);
  const thrift::JobDefinition standard;
  out.field(1, in.space, standard.space);
  out.field(2, in.name, standard.name);
  out.field(3, in.description, standard.description);
  out.field(4, in.owner, standard.owner);
  out.field(5, in.labels, standard.labels);
  out.group(6, [&] { put(out, in.rules); });
  out.group(7, [&] { put(out, in.work); });
}

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest sha256(const std::string& text) {
  Digest digest{};
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  CHECK_OR_DIE(SHA256(bytes, text.size(), digest.data()) != nullptr, "SHA-256 is missing");
  return digest;
}

std::string request_hash(const Canonical& text) {
  const Digest digest = sha256(text.text());
  std::string out(kHashVersion);
  for (std::size_t i = 0; i < 16; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

}  // namespace

JobId one_off_id(const model::JobDefinition& definition) {
  Canonical text;
  put(text, definition);
  const Digest digest = sha256(text.text());
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i) bits = (bits << 8) | digest[i];
  return JobId{static_cast<std::int64_t>(bits & (static_cast<std::uint64_t>(kOneOffBit) - 1)) |
               kOneOffBit};
}

std::string submit_hash(const model::JobDefinition& definition,
                        const std::map<std::string, std::string>& parameters) {
  Canonical text;
  text.group(1, [&] { put(text, definition); });
  text.field(2, parameters, {});
  return request_hash(text);
}

std::string run_now_hash(const std::string& space, const std::string& name,
                         const std::map<std::string, std::string>& parameters) {
  Canonical text;
  text.field(2, space, std::string());
  text.field(3, name, std::string());
  text.field(4, parameters, {});
  return request_hash(text);
}

}  // namespace rota::wire
