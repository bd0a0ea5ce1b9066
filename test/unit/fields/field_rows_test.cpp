// Every row of the field table, on every surface. Nothing here names a field, except those whose syntax in job
// files is their own: a new row is tested by being there (add_field_test.py adds one and runs this).
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "client/command/show_json.h"
#include "client/field_text.h"
#include "client/job_file.h"
#include "client/job_schema.h"
#include "common/wire/content_hash.h"
#include "common/wire/definition_json.h"
#include "common/wire/definition_rules.h"
#include "common/wire/job_wire.h"
#include "master/core/definition_hash.h"
#include "test/unit/fields/golden_definitions.h"

namespace rota::testing {
namespace {

using model::FieldKind;
using model::FieldsOf;
using model::JobDefinition;

/// A definition beyond a limit, and the same in a job file.
struct Beyond {
  JobDefinition definition;
  std::string value;    ///< on the wire
  std::string in_file;  ///< empty: the client cannot write it
};

/// One row, and a definition in which its field alone differs from plain_definition().
struct Case {
  std::string key, group, leaf, wire_name, help;
  JobDefinition changed;
  bool has_range = false;
  std::string low, high, low_in_file, high_in_file;
  std::vector<Beyond> beyond;
};

std::int64_t whole_of(Millis value) { return value.count(); }
std::int64_t whole_of(std::int64_t value) { return value; }
void set_whole(Millis& into, std::int64_t value) { into = Millis{value}; }
template <typename Whole>
void set_whole(Whole& into, std::int64_t value) {
  into = static_cast<Whole>(value);
}

template <typename Row, typename Value>
void set_other(const Row& row, Value& value) {
  if constexpr (Row::kind == FieldKind::Choice) {
    const auto count = static_cast<int>(wire::all_names<Value>().size());
    value = static_cast<Value>((static_cast<int>(value) + count - 1) % count);
  } else if constexpr (Row::kind == FieldKind::Number) {
    value = static_cast<double>(row.low) + 0.5;
  } else if constexpr (Row::kind == FieldKind::Moment) {
    value = wall_from_ms(1'767'225'600'000);
  } else if constexpr (Row::kind == FieldKind::Text) {
    value = row.form == model::TextForm::Path ? "/srv/other" : "other";
    if (row.lines == model::LineForm::Again) value = "exit 75,100-110; every 1m; at_most 6h";
  } else if constexpr (Row::kind == FieldKind::Texts) {
    value = {"other", "b c"};
    if (row.lines == model::LineForm::Ends) value = {"exit 75,100-110", "signal 9", "timed_out"};
  } else if constexpr (Row::kind == FieldKind::TextMap) {
    value = {{"other", "value"}};
  } else if constexpr (Row::kind == FieldKind::CountMap) {
    value = {{"other", 2}};
  } else if constexpr (Row::kind == FieldKind::AmountMap) {
    value = {{"memory", std::int64_t{8} << 30}, {"other", 2}};
  } else {
    set_whole(value, whole_of(value) == row.low ? row.high : row.low);
  }
}

/// Visits each row with the struct that holds its field.
template <typename Struct, typename Visit>
void for_each_place(Struct& from, const Visit& visit) {
  model::for_each_field(FieldsOf<Struct>{}, [&](const auto& row) {
    if constexpr (std::decay_t<decltype(row)>::kind == FieldKind::Group) {
      for_each_place(row.in(from), visit);
    } else {
      visit(row, from);
    }
  });
}

template <typename Row, typename Struct>
void add_range(Case& out, const Row& row, Struct& place, const JobDefinition& whole) {
  constexpr FieldKind kKind = Row::kind;
  constexpr bool kIsWhole = kKind == FieldKind::Whole || kKind == FieldKind::Duration ||
                            kKind == FieldKind::Size || kKind == FieldKind::Cores || kKind == FieldKind::Octal;
  if constexpr (kIsWhole) {
    out.has_range = true;
    out.low = std::to_string(row.low), out.high = std::to_string(row.high);
    out.low_in_file = client::number_in_file(row, row.low), out.high_in_file = client::number_in_file(row, row.high);
    for (const std::int64_t value : {row.low - 1, row.high + 1, std::int64_t{-2}}) {
      if ((value == 0 && row.or_none) || (value >= row.low && value <= row.high)) continue;
      const auto before = row.in(place);
      set_whole(row.in(place), value);
      const bool is_writable = value > 0 || kKind == FieldKind::Whole;
      out.beyond.push_back({whole, std::to_string(value), is_writable ? client::number_in_file(row, value) : ""});
      row.in(place) = before;
    }
  } else {
    (void)out, (void)row, (void)place, (void)whole;
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  std::size_t rows = 1;
  for (std::size_t chosen = 0; chosen < rows; ++chosen) {
    JobDefinition job = plain_definition();
    std::size_t at = 0;
    for_each_place(job, [&](const auto& row, auto& place) {
      if (at++ != chosen) return;
      Case& one = out.emplace_back();
      one.key = row.key, one.group = row.group(), one.leaf = row.leaf();
      one.wire_name = row.wire_name(), one.help = row.help;
      add_range(one, row, place, job);
      set_other(row, row.in(place));
      one.changed = job;
    });
    rows = at;
  }
  return out;
}

bool begins_one(const std::vector<std::string>& problems, const std::string& beginning) {
  return std::ranges::any_of(problems, [&](const std::string& one) { return one.starts_with(beginning); });
}

std::string all_of(const std::vector<std::string>& problems) { return fmt::format("{}", fmt::join(problems, "\n")); }

thrift::JobDefinition read_back(const std::string& text) {
  config::Problems problems;
  const auto file = client::read_job_file("f", text, problems);
  CHECK_MESSAGE(problems.empty(), text << problems.text());
  return file.jobs.size() == 1 ? file.jobs.front() : thrift::JobDefinition();
}

/// Keys of which one means another, or whose syntax hides the one that the case changes.
bool says_it_alone(const Case& one) {
  return one.key != "schedule.kind" && one.key != "schedule.every" && one.key != "worker" && one.key != "script";
}

}  // namespace

TEST_CASE("field table: keys and names are told apart, and each row has its words") {
  std::set<std::string> keys, wire_names, groups;
  model::for_each_row(FieldsOf<JobDefinition>{}, [&](const auto& row) {
    const std::string key(row.key);
    CAPTURE(key);
    CHECK(keys.insert(key).second);
    CHECK((key == "schedule.kind" || key == "schedule.entries" || !row.help.empty()));
    CHECK(std::string(row.help).find('|') == std::string::npos);
    if (!row.group().empty()) groups.emplace(row.group());
    const bool is_named = row.in_hash == model::InHash::Named || row.in_hash == model::InHash::IsolationNamed;
    if (is_named) CHECK(wire_names.emplace(row.name_in_hash()).second);
  });
  for (const auto& group : model::kKeyGroups) CHECK(groups.erase(std::string(group.key)) == 1);
  CHECK(groups.empty());
}

TEST_CASE("field table: a row that add_field_test.py added is among those tested") {
  const char* added = std::getenv("ROTA_ADDED_KEY");
  if (added == nullptr) return;
  const auto all = cases();
  const auto found = std::ranges::find(all, std::string(added), &Case::key);
  REQUIRE(found != all.end());
  CHECK(found->beyond.size() >= 2);
  CHECK(client::job_file_text(wire::to_wire(found->changed)).find(std::string(added) + ": 2\n") != std::string::npos);
}

TEST_CASE("field table: each field survives wire and stored JSON, and counts in both hashes") {
  const JobDefinition plain = plain_definition();
  std::set<std::uint64_t> prints = {master::core::definition_hash(plain)};
  std::set<std::int64_t> ids = {wire::one_off_id(plain).value};
  for (const Case& one : cases()) {
    CAPTURE(one.key);
    CHECK(one.changed != plain);
    const auto sent = wire::from_wire(wire::to_wire(one.changed));
    CHECK((sent && *sent == one.changed));
    const auto text = wire::definition_to_json(one.changed);
    REQUIRE(text);
    CHECK(*wire::definition_from_json(*text) == one.changed);
    CHECK(*wire::rules_from_json(*wire::rules_to_json(one.changed.rules)) == one.changed.rules);
    CHECK(prints.insert(master::core::definition_hash(one.changed)).second);
    CHECK(ids.insert(wire::one_off_id(one.changed).value).second);
    CHECK(client::to_json(wire::to_wire(one.changed)) != client::to_json(wire::to_wire(plain)));
  }
}

TEST_CASE("field table: a value beyond its limits is refused by key, value and limits, on both sides") {
  int ranges = 0;
  for (const Case& one : cases()) {
    CAPTURE(one.key);
    const auto fine = wire::definition_problems(one.changed, true);
    CHECK_MESSAGE(!begins_one(fine, one.key + ": other"), all_of(fine));
    CHECK_MESSAGE(!begins_one(fine, one.key + ": -"), all_of(fine));
    for (const Beyond& beyond : one.beyond) {
      CAPTURE(beyond.value);
      const std::string expected =
          fmt::format("{}: {} is out of range, allowed are {} to {}", one.key, beyond.value, one.low, one.high);
      const auto problems = wire::definition_problems(beyond.definition, true);
      CHECK_MESSAGE(begins_one(problems, expected), all_of(problems));
      if (beyond.in_file.empty()) continue;
      ++ranges;
      const std::string line = one.group.empty() ? fmt::format("{}: {}\n", one.leaf, beyond.in_file)
                                                 : fmt::format("{}:\n  {}: {}\n", one.group, one.leaf, beyond.in_file);
      config::Problems told;
      (void)client::read_job_file("f", "name: a\ncommand: x\n" + line, told);
      const std::string text = told.text();
      for (const std::string& part : {" " + one.key + ": ", beyond.in_file}) {
        CHECK_MESSAGE(text.find(part) != std::string::npos, part << "\n" << line << text);
      }
    }
  }
  CHECK(ranges >= 20);
}

TEST_CASE("field table: each field is written into a job file and read again as the same") {
  for (const Case& one : cases()) {
    CAPTURE(one.key);
    auto sent = wire::to_wire(one.changed);
    if (one.key == "worker") sent.rules.route = "named";
    if (one.key == "script") sent.work.argv.clear();
    if (one.key == "schedule.every") sent.rules.schedule.kind = "fixed_rate", sent.rules.schedule.cron = "";
    if (one.key == "schedule.kind" || one.key == "schedule.entries") sent.rules.schedule = thrift::Schedule();
    if (one.key == "schedule.entries") {
      sent.rules.schedule.kind = "entries";
      sent.rules.schedule.entries = {"every 5s; between 09:00-17:00; name day", "cron H 3 * * *; skipped_time quartz"};
    }
    const std::string text = client::job_file_text(sent);
    CHECK_MESSAGE(read_back(text) == sent, text);
    if (says_it_alone(one)) CHECK_MESSAGE(text.find(one.group.empty() ? one.leaf : one.group) != std::string::npos, text);
  }
}

TEST_CASE("field table: each key stands in the schema and in the table of keys") {
  const auto job = nlohmann::json::parse(client::job_schema_text()).at("definitions").at("job").at("properties");
  const std::string table = client::job_key_table();
  for (const Case& one : cases()) {
    CAPTURE(one.key);
    if (one.help.empty()) continue;
    CHECK(table.find(fmt::format("\n| `{}` | {}", one.key, one.help)) != std::string::npos);
    nlohmann::json from = job;
    if (!one.group.empty()) {
      from = from.at(one.group);
      from = (from.contains("anyOf") ? from.at("anyOf").back() : from).at("properties");
    }
    REQUIRE(from.contains(one.leaf));
    CHECK(from.at(one.leaf).at("description").get<std::string>().starts_with(one.help));
  }
}

TEST_CASE("field table: a key that was renamed is refused with its name of now") {
  config::Problems problems;
  (void)client::read_job_file("f", "name: a\ncommand: x\nschedule: {cron: '0 2 * * *', gap: skip, fold: both}\n",
                              problems);
  CHECK(problems.text() == "f:3:36 schedule.gap: is called skipped_time now; write skipped_time\n"
                           "f:3:48 schedule.fold: is called repeated_time now; write repeated_time\n");
}

TEST_CASE("field table: a word of a newer master is printed as it is") {
  auto job = wire::to_wire(plain_definition());
  job.rules.overlap = "merge";
  CHECK(client::job_file_text(job).find("overlap: \"merge\"\n") != std::string::npos);
  CHECK(client::to_json(job).at("rules").at("overlap") == "merge");
}

}  // namespace rota::testing
