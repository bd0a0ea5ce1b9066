#include "master/store/mysql/contents.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "common/base/log.h"
#include "common/base/sha256.h"
#include "common/wire/definition_json.h"
#include "master/store/mysql/epoch_fence.h"
#include "master/store/mysql/multi_row.h"

namespace rota::master::store {
namespace {

constexpr int kJobsAtOnce = 200;

const MultiRow kInsertContents{"INSERT INTO definition (hash, rules, body) VALUES", 3,
                               "ON DUPLICATE KEY UPDATE hash = VALUES(hash)"};

struct InForce {
  Epoch epoch;
  bool needed = false;
};

/// By a transaction's first statements, so that no successor comes before it ends.
Result<InForce> lock_epoch(Connection& connection) {
  const auto epoch = enter_fence(connection);
  if (!epoch) return fail(epoch.error());
  InForce found{*epoch, false};
  auto asked = connection.stream("SELECT contents_needed FROM epoch WHERE partition_no = 1",
                                 [&](Row& row) -> Result<void> {
                                   found.needed = row.integer() != 0;
                                   return {};
                                 });
  if (!asked) return fail(asked.error());
  return found;
}

}  // namespace

/// Where the text shows the usual handler, it is not parsed: of a million rows nearly all have that one.
std::string kept_rules(std::string_view rules, std::string_view definition) {
  return fmt::format(
      "IF({1} = '' OR LOCATE('\"handler\":\"command\",\"interpreter\":', {1}) > 0, {0}, COALESCE(CONCAT("
      "'\"handler\":', JSON_EXTRACT({1}, '$.work.handler'), ',', {0}), {0}))",
      rules, definition);
}

KeptText split_handler(const std::string& kept) {
  constexpr std::string_view kBefore = "\"handler\":\"", kAfter = "\",";
  if (!kept.starts_with(kBefore)) return {"", kept};
  const std::size_t end = kept.find(kAfter, kBefore.size());  // a handler's name needs no escapes
  if (end == std::string::npos) return {"", kept};
  return {kept.substr(kBefore.size(), end - kBefore.size()), kept.substr(end + kAfter.size())};
}

std::string rules_of_version() {
  return fmt::format("IF(v.content_hash IS NULL, {}, {})", kept_rules("v.rules", "v.definition"),
                     kept_rules("d.rules", "d.body"));
}

Result<ContentTexts> whole_texts(const model::JobDefinition& definition) {
  auto rules = wire::rules_to_json(definition.rules);
  if (!rules) return fail(rules.error());
  auto whole = wire::definition_to_json(definition);
  if (!whole) return fail(whole.error());
  return ContentTexts{std::move(*rules), std::move(*whole), ""};
}

Result<ContentTexts> shared_texts(model::JobDefinition definition) {
  definition.space.clear();
  definition.name.clear();
  auto texts = whole_texts(definition);
  if (texts) texts->hash = sha256_of(texts->definition);
  return texts;
}

void write_contents(BatchText& batch, const std::vector<ContentTexts>& texts) {
  std::map<std::string_view, const ContentTexts*> each;  // in order: two writers lock them in the same one
  for (const ContentTexts& one : texts) {
    if (!one.hash.empty()) each.emplace(one.hash, &one);
  }
  std::vector<const ContentTexts*> rows;
  for (const auto& [hash, one] : each) rows.push_back(one);
  batch.add_rows(kInsertContents, {rows.size(), [&](Binder& binder, std::size_t i) {
                                     const ContentTexts& one = *rows[i];
                                     binder.text(one.hash).text(one.rules).text(one.definition);
                                   }});
}

Result<void> need_contents(Connection& connection, Epoch epoch) {
  auto done = connection.change(
      "UPDATE epoch SET contents_read_by = value, contents_needed = 1 "
      "WHERE partition_no = 1 AND value = ? AND contents_needed = 0",
      [&](Binder& binder) { binder.integer(epoch.value); });
  if (!done) return fail(done.error());
  if (*done > 0) {
    log_info("store", "definitions are stored by content from now on", {{"epoch", epoch.value}});
  }
  return {};
}

Result<void> ContentFill::step(Connection& connection, Epoch epoch) {
  if (epoch_ != epoch) *this = ContentFill{};
  epoch_ = epoch;
  if (is_over_) return {};
  if (auto begun = connection.begin(); !begun) return begun;
  const auto in_force = lock_epoch(connection);
  if (!in_force) return fail(in_force.error());
  if (in_force->epoch != epoch || !in_force->needed) {
    is_over_ = true;
    return connection.undo();
  }
  const auto some = read_some(connection);
  if (!some) return fail(some.error());
  if (auto changed = change_some(connection, *some); !changed) return changed;
  return connection.end_transaction();
}

/// All versions of the next saved jobs. One that this program cannot read stays as it is.
Result<std::vector<ContentFill::Old>> ContentFill::read_some(Connection& connection) {
  std::vector<Old> some;
  std::int64_t last = after_job_;
  auto read = connection.stream(
      fmt::format("SELECT t.job_id, v.version, v.definition FROM (SELECT job_id FROM job WHERE job_id > {} "
                  "AND job_id < {} ORDER BY job_id LIMIT {}) t LEFT JOIN job_version v "
                  "ON v.job_id = t.job_id AND v.content_hash IS NULL ORDER BY t.job_id",
                  after_job_, kOneOffBit, kJobsAtOnce),
      [&](Row& row) -> Result<void> {
        last = row.integer();
        const auto version = row.maybe_integer();
        if (!version) return {};
        auto definition = wire::definition_from_json(row.text());
        if (!definition) return {};
        auto texts = shared_texts(std::move(*definition));
        if (texts) some.push_back({last, *version, std::move(*texts)});
        return {};
      });
  if (!read) return fail(read.error());
  is_over_ = last == after_job_;
  after_job_ = last;
  return some;
}

Result<void> ContentFill::change_some(Connection& connection, const std::vector<Old>& some) {
  std::map<std::string_view, const ContentTexts*> each;  // in the order in which batches lock them
  for (const Old& one : some) each.emplace(one.texts.hash, &one.texts);
  for (const auto& [hash, content] : each) {
    const ContentTexts* const texts = content;
    auto done = connection.change(
        "INSERT INTO definition (hash, rules, body) VALUES (?, ?, ?) "
        "ON DUPLICATE KEY UPDATE hash = VALUES(hash)",
        [&](Binder& binder) { binder.text(texts->hash).text(texts->rules).text(texts->definition); });
    if (!done) return fail(done.error());
  }
  for (const Old& one : some) {
    auto done = connection.change(
        "UPDATE job_version SET content_hash = ?, rules = '', definition = '' "
        "WHERE job_id = ? AND version = ? AND content_hash IS NULL",
        [&](Binder& binder) { binder.text(one.texts.hash).integer(one.job).integer(one.version); });
    if (!done) return fail(done.error());
  }
  return {};
}

}  // namespace rota::master::store
