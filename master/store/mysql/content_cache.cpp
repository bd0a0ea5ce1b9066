#include "master/store/mysql/content_cache.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "common/wire/definition_json.h"
#include "master/store/mysql/contents.h"
#include "master/store/mysql/literals.h"

namespace rota::master::store {
namespace {

constexpr int kContentsAtOnce = 500;
constexpr std::size_t kContentsMost = 50'000;  // some 25 MB
constexpr Millis kLookEvery{5000};

constexpr std::string_view kScheduleBegins = "\"schedule\":{";

/// A job's rules as two texts, since most jobs that differ in their rules differ in their schedule alone.
/// Empty parts: it is not written as this program writes it.
struct RulesText {
  std::string schedule;  ///< rules of which the schedule alone is given
  std::string rest;      ///< with an empty schedule
};

RulesText split(const std::string& json) {
  const std::size_t at = json.find(kScheduleBegins);
  const std::size_t end = at == std::string::npos ? at : json.find('}', at);
  if (end == std::string::npos) return {};
  const std::size_t inner = at + kScheduleBegins.size();
  return {"{" + json.substr(at, end + 1 - at) + "}", json.substr(0, inner) + json.substr(end)};
}

}  // namespace

Result<core::KeptRules> RulesReader::read(const std::string& text) {
  const KeptText kept = split_handler(text);
  auto rules = read_rules(kept.rules);
  if (!rules) return fail(rules.error());
  return core::KeptRules(std::move(*rules), kept.handler);
}

/// A text that cannot be read in two parts is read as a whole, for its value or its error.
Result<model::JobRules> RulesReader::read_rules(const std::string& json) {
  const RulesText text = split(json);
  const auto schedule = text.schedule.empty() ? Result<model::JobRules>(fail(ErrorCode::Corrupt, ""))
                                              : wire::rules_from_json(text.schedule);
  if (!schedule) return wire::rules_from_json(json);
  auto rest = rest_.find(text.rest);
  if (rest == rest_.end()) {
    auto read = wire::rules_from_json(text.rest);
    if (!read) return wire::rules_from_json(json);
    rest = rest_.emplace(text.rest, std::move(*read)).first;
  }
  model::JobRules rules = rest->second;
  rules.schedule = schedule->schedule;
  return rules;
}

ContentCache::Rules ContentCache::find(const std::string& hash) const {
  const auto found = known_.find(hash);
  return found == known_.end() ? nullptr : found->second;
}

Result<void> ContentCache::look_for_news(Connection& connection, MonoTime now) {
  look_at_ = now + kLookEvery;
  return connection.stream(
      "SELECT COALESCE(MAX(table_rows), 0) FROM information_schema.tables "
      "WHERE table_schema = DATABASE() AND table_name = 'definition'",
      [this](Row& row) -> Result<void> {
        const std::int64_t rows = row.integer();
        in_pass_ = rows != rows_;
        rows_ = rows;
        after_.clear();
        return {};
      });
}

/// One that this program cannot read is left to the takeover, which says which job needs it.
Result<bool> ContentCache::read_some(Connection& connection, MonoTime now) {
  if (!in_pass_) {
    if (now < look_at_) return false;
    if (auto looked = look_for_news(connection, now); !looked) return fail(looked.error());
    return in_pass_;
  }
  std::string sql = "SELECT hash, " + kept_rules("rules", "body") + " FROM definition WHERE hash > ";
  LiteralBinder(sql).text(after_);
  int count = 0;
  auto read = connection.stream(
      fmt::format("{} ORDER BY hash LIMIT {}", sql, kContentsAtOnce), [&](Row& row) -> Result<void> {
        ++count;
        after_ = row.text();
        if (known_.contains(after_)) return {};
        if (auto rules = reader_.read(row.text())) {
          known_.emplace(after_, std::make_shared<const core::KeptRules>(std::move(*rules)));
        }
        return {};
      });
  if (!read) return fail(read.error());
  in_pass_ = count == kContentsAtOnce && known_.size() < kContentsMost;
  return in_pass_;
}

}  // namespace rota::master::store
