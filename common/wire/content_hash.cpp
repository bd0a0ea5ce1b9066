#include "common/wire/content_hash.h"

#include <fmt/format.h>

#include <vector>

#include "common/base/sha256.h"
#include "common/model/job_fields.h"
#include "common/wire/job_names.h"

namespace rota::wire {
namespace {

constexpr std::string_view kHashVersion = "1:";

/// Appends fields as `id type length:bytes`, so that no two contents give the same text. A field is called by
/// a number, that of thrift/job.thrift, or, if it came later, by its name.
class Canonical {
 public:
  template <typename Name, typename T>
  void field(const Name& name, const T& value) {
    out_ += fmt::format("{}=", name);
    put(value);
  }

  template <typename Name, typename Inner>
  void group(const Name& name, Inner inner) {
    out_ += fmt::format("{}{{", name);
    inner();
    out_ += '}';
  }

  const std::string& text() const { return out_; }

 private:
  void put(std::string_view value) { out_ += fmt::format("s{}:{}", value.size(), value); }
  void put(const std::string& value) { put(std::string_view(value)); }
  void put(std::int64_t value) { out_ += fmt::format("i{};", value); }
  void put(std::int32_t value) { put(std::int64_t{value}); }
  void put(double value) { out_ += fmt::format("d{};", value); }
  void put(Millis value) { put(std::int64_t{value.count()}); }
  void put(const std::optional<WallTime>& value) { put(to_ms(value.value())); }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void put(Enum value) {
    put(name_of(value));
  }
  void put(const std::vector<std::string>& values) {
    out_ += fmt::format("l{}:", values.size());
    for (const std::string& value : values) put(value);
  }
  template <typename Value>
  void put(const std::map<std::string, Value>& values) {
    out_ += fmt::format("m{}:", values.size());
    for (const auto& [key, value] : values) {
      put(key);
      put(value);
    }
  }

  std::string out_;
};

/// The fields that differ from their defaults.
template <typename Struct>
void put(Canonical& out, const Struct& from) {
  const Struct plain;
  model::for_each_field(model::FieldsOf<Struct>{}, [&](const auto& row) {
    const auto& value = row.in(from);
    const bool is_changed = value != row.in(plain);
    const auto put_as = [&](const auto& name) {
      if constexpr (std::decay_t<decltype(row)>::kind == model::FieldKind::Group) {
        // The first groups are there in any case. Later ones are not, so that older hashes stay the same.
        if (is_changed || row.in_hash == model::InHash::Always) out.group(name, [&] { put(out, value); });
      } else if (is_changed) {
        out.field(name, value);
      }
    };
    if (row.content_id != 0) return put_as(row.content_id);
    put_as(row.wire_name());
  });
}

unsigned byte_of(const std::string& digest, std::size_t at) { return static_cast<unsigned char>(digest[at]); }

std::string request_hash(const Canonical& text) {
  const std::string digest = sha256_of(text.text());
  std::string out(kHashVersion);
  for (std::size_t i = 0; i < 16; ++i) out += fmt::format("{:02x}", byte_of(digest, i));
  return out;
}

}  // namespace

JobId one_off_id(const model::JobDefinition& definition) {
  Canonical text;
  put(text, definition);
  const std::string digest = sha256_of(text.text());
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i) bits = (bits << 8) | byte_of(digest, i);
  return JobId{static_cast<std::int64_t>(bits & (static_cast<std::uint64_t>(kOneOffBit) - 1)) |
               kOneOffBit};
}

std::string submit_hash(const model::JobDefinition& definition,
                        const std::map<std::string, std::string>& parameters) {
  Canonical text;
  text.group(1, [&] { put(text, definition); });
  if (!parameters.empty()) text.field(2, parameters);
  return request_hash(text);
}

std::string run_now_hash(const std::string& space, const std::string& name,
                         const std::map<std::string, std::string>& parameters) {
  Canonical text;
  if (!space.empty()) text.field(2, space);
  if (!name.empty()) text.field(3, name);
  if (!parameters.empty()) text.field(4, parameters);
  return request_hash(text);
}

}  // namespace rota::wire
