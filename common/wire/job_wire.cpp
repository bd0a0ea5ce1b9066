#include "common/wire/job_wire.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/model/job_fields.h"
#include "common/wire/job_names.h"
#include "common/wire/text_rules.h"

namespace rota::wire {
namespace {

using model::FieldKind;
using model::FieldsOf;

// 1970 to the year 2200: beyond it time zones are not known either.
constexpr std::int64_t kLatestMs = 7'258'118'400'000;

using Problems = std::vector<std::string>;

template <typename Row, typename Enum>
void read_choice(const Row& row, const std::string& word, Enum& into, Problems& problems) {
  if (const auto found = named<Enum>(word_on_wire(row, word))) {
    into = *found;
    return;
  }
  problems.push_back(fmt::format("{}: {} is none of {}", row.key, quoted_text(word), allowed_names<Enum>()));
}

void read_moment(std::string_view key, std::int64_t ms, std::optional<WallTime>& into, Problems& problems) {
  if (ms < 0 || ms > kLatestMs) {
    problems.push_back(fmt::format("{}: {} is no moment between 1970 and 2200", key, ms));
  } else {
    into = wall_from_ms(ms);
  }
}

/// `into` has its defaults before, and keeps them where a value cannot be read.
template <typename WireStruct, typename Struct>
void read_fields(const WireStruct& from, Struct& into, Problems& problems) {
  model::for_each_field(FieldsOf<Struct>{}, [&](const auto& row) {
    constexpr FieldKind kKind = std::decay_t<decltype(row)>::kind;
    const auto& sent = row.on_wire(from);
    auto& value = row.in(into);
    if constexpr (kKind == FieldKind::Group) {
      read_fields(sent, value, problems);
    } else if constexpr (kKind == FieldKind::Choice) {
      read_choice(row, sent, value, problems);
    } else if constexpr (kKind == FieldKind::Moment) {
      if (row.is_set(from)) read_moment(row.key, sent, value, problems);
    } else if constexpr (kKind == FieldKind::Duration) {
      value = Millis{sent};
    } else {
      value = sent;
    }
  });
}

template <typename Struct, typename WireStruct>
void write_fields(const Struct& from, WireStruct& into) {
  model::for_each_field(FieldsOf<Struct>{}, [&](const auto& row) {
    constexpr FieldKind kKind = std::decay_t<decltype(row)>::kind;
    const auto& value = row.in(from);
    auto& sent = row.on_wire(into);
    if constexpr (kKind == FieldKind::Group) {
      write_fields(value, sent);
    } else if constexpr (kKind == FieldKind::Choice) {
      sent = name_of(value);
    } else if constexpr (kKind == FieldKind::Moment) {
      if (!value) return;  // the only ones that may be absent
      sent = to_ms(*value);
    } else if constexpr (kKind == FieldKind::Duration) {
      sent = value.count();
    } else {
      sent = value;
    }
    row.mark_set(into);
  });
}

template <typename Struct, typename WireStruct>
Result<Struct> read_checked(const WireStruct& from) {
  Problems problems;
  Struct out;
  read_fields(from, out, problems);
  if (problems.empty()) return out;
  return fail(ErrorCode::InvalidArgument, fmt::format("{}", fmt::join(problems, "; ")));
}

template <typename WireStruct, typename Struct>
WireStruct written(const Struct& from) {
  WireStruct out;
  write_fields(from, out);
  return out;
}

}  // namespace

thrift::Schedule to_wire(const model::Schedule& schedule) { return written<thrift::Schedule>(schedule); }
thrift::Rules to_wire(const model::JobRules& rules) { return written<thrift::Rules>(rules); }
thrift::Work to_wire(const model::JobWork& work) { return written<thrift::Work>(work); }
thrift::JobDefinition to_wire(const model::JobDefinition& definition) {
  return written<thrift::JobDefinition>(definition);
}

Result<model::Schedule> from_wire(const thrift::Schedule& schedule) {
  return read_checked<model::Schedule>(schedule);
}
Result<model::JobRules> from_wire(const thrift::Rules& rules) { return read_checked<model::JobRules>(rules); }
Result<model::JobDefinition> from_wire(const thrift::JobDefinition& definition) {
  return read_checked<model::JobDefinition>(definition);
}

model::JobWork from_wire(const thrift::Work& work) {
  Problems problems;  // a choice that is not known here has its default
  model::JobWork out;
  read_fields(work, out, problems);
  return out;
}

thrift::JobInfo to_wire(const model::Job& job, const model::JobVersionRow& version) {
  thrift::JobInfo out;
  out.__set_id(job.id.value);
  out.__set_version(job.version);
  out.__set_state(text(name_of(job.state)));
  out.__set_state_by(job.state_by);
  out.__set_state_why(job.state_why);
  out.__set_created_ms(to_ms(job.created));
  out.__set_changed_ms(to_ms(job.changed));
  if (version.definition) out.__set_definition(to_wire(*version.definition));
  return out;
}

}  // namespace rota::wire
