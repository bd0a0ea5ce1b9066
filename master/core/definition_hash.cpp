#include "master/core/definition_hash.h"

#include <bit>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "common/model/job_fields.h"

namespace rota::master::core {
namespace {

using model::FieldKind;
using model::FieldsOf;
using model::InHash;

/// FNV-1a over a self-delimiting sequence: each value is preceded by its length or has a fixed one.
class Fingerprint {
 public:
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  void add(std::int64_t number) {
    auto bits = static_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i, bits >>= 8) byte(static_cast<unsigned char>(bits & 0xff));
  }
  void add(std::int32_t number) { add(std::int64_t{number}); }
  void add(double number) { add(std::bit_cast<std::int64_t>(number)); }
  void add(Millis duration) { add(static_cast<std::int64_t>(duration.count())); }
  void add(const std::optional<WallTime>& time) {
    add(static_cast<std::int64_t>(time.has_value()));
    add(time ? to_ms(*time) : 0);
  }
  void add(const std::vector<std::string>& texts) {
    add(static_cast<std::int64_t>(texts.size()));
    for (const std::string& text : texts) add(std::string_view(text));
  }
  void add(const std::map<std::string, std::string>& entries) {
    add(static_cast<std::int64_t>(entries.size()));
    for (const auto& [key, value] : entries) {
      add(std::string_view(key));
      add(std::string_view(value));
    }
  }
  template <typename Number>
    requires std::is_integral_v<Number>
  void add(const std::map<std::string, Number>& counts) {
    add(static_cast<std::int64_t>(counts.size()));
    for (const auto& [key, value] : counts) {
      add(std::string_view(key));
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

/// The fields of a struct and of the structs in it, in the order of their rows, each with its value and its
/// default.
template <typename Struct, typename Visit>
void for_each_value(const Struct& from, const Struct& plain, const Visit& visit) {
  model::for_each_field(FieldsOf<Struct>{}, [&](const auto& row) {
    if constexpr (std::decay_t<decltype(row)>::kind == FieldKind::Group) {
      for_each_value(row.in(from), row.in(plain), visit);
    } else {
      visit(row, row.in(from), row.in(plain));
    }
  });
}

template <typename Struct>
void add_core(Fingerprint& print, const Struct& from) {
  model::for_each_field(FieldsOf<Struct>{}, [&](const auto& row) {
    if constexpr (std::decay_t<decltype(row)>::kind == FieldKind::Group) {
      add_core(print, row.in(from));
    } else if (row.in_hash == InHash::Always) {
      print.add(row.in(from));
    }
  });
}

/// All of them where one differs from what older programs knew, so that their stored hashes stay right.
template <typename Struct>
void add_isolation(Fingerprint& print, const Struct& from, const Struct& plain) {
  bool is_changed = false;
  for_each_value(from, plain, [&](const auto& row, const auto& value, const auto& standard) {
    if (row.in_hash == InHash::Isolation || row.in_hash == InHash::IsolationNamed) {
      is_changed = is_changed || value != standard;
    }
  });
  if (!is_changed) return;
  for_each_value(from, plain, [&](const auto& row, const auto& value, const auto&) {
    if (row.in_hash == InHash::Isolation) print.add(value);
  });
}

/// What came later is added where it is not the default, so that older programs' hashes stay right, and with
/// its name, so that none is taken for another.
template <typename Struct>
void add_changed(Fingerprint& print, const Struct& from, const Struct& plain) {
  for_each_value(from, plain, [&](const auto& row, const auto& value, const auto& standard) {
    if (row.in_hash == InHash::Always || row.in_hash == InHash::Isolation || value == standard) return;
    if (row.in_hash != InHash::Bare) print.add(row.name_in_hash());
    print.add(value);
  });
}

template <typename Struct>
void add_all(Fingerprint& print, const Struct& from) {
  const Struct plain;
  add_core(print, from);
  add_isolation(print, from, plain);
  add_changed(print, from, plain);
}

}  // namespace

std::uint64_t definition_hash(const model::JobDefinition& definition) {
  Fingerprint print;
  // First the definition's own fields, then those of each struct in it, one struct after the other.
  model::for_each_field(FieldsOf<model::JobDefinition>{}, [&](const auto& row) {
    if constexpr (std::decay_t<decltype(row)>::kind == FieldKind::Group) {
      add_all(print, row.in(definition));
    } else if (row.in_hash == InHash::Always) {
      print.add(row.in(definition));
    }
  });
  const model::JobDefinition plain;
  model::for_each_field(FieldsOf<model::JobDefinition>{}, [&](const auto& row) {
    if constexpr (std::decay_t<decltype(row)>::kind != FieldKind::Group) {
      if (row.in_hash == InHash::Always || row.in(definition) == row.in(plain)) return;
      print.add(row.name_in_hash());
      print.add(row.in(definition));
    }
  });
  return print.value();
}

}  // namespace rota::master::core
