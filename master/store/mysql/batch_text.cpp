#include "master/store/mysql/batch_text.h"

#include <iterator>
#include <utility>

#include "master/store/mysql/literals.h"

namespace rota::master::store {
namespace {

constexpr std::size_t kMostItems = 512;            // in one statement
constexpr std::size_t kMostTextBytes = 1u << 20;  // of one text; the row that goes beyond it is its last

}  // namespace

void BatchText::begin_part(Visit visit) {
  if (script_.text.size() >= kMostTextBytes) send();
  if (!script_.parts.empty()) script_.text += ';';
  script_.parts.push_back({script_.text.size(), std::move(visit)});
}

void BatchText::add(std::string_view statement) {
  begin_part();
  script_.text += statement;
}

void BatchText::ask(std::string_view query, Visit visit) {
  begin_part(std::move(visit));
  script_.text += query;
}

/// The library itself keeps only the first count of a text. Nothing may come between the statement and this.
void BatchText::count_into(const std::shared_ptr<std::int64_t>& sum) {
  script_.text += ';';
  script_.parts.push_back({script_.text.size(), [sum](Row& row) -> Result<void> {
                             *sum += row.integer();
                             return {};
                           }});
  script_.text += "SELECT ROW_COUNT()";
}

void BatchText::add_counted(std::string_view statement, CountCheck check) {
  const auto counted = std::make_shared<std::int64_t>(0);
  add(statement);
  count_into(counted);
  checks_.push_back([counted, check = std::move(check)] { return check(*counted); });
}

void BatchText::add_parts(std::string_view head, std::size_t items, const Write& write,
                          std::string_view tail, CountCheck check) {
  if (items == 0) return;
  const auto counted = check ? std::make_shared<std::int64_t>(0) : nullptr;
  for (std::size_t next = 0; next < items;) {
    add(head);
    script_.text += ' ';
    const std::size_t first = next;
    do {
      if (next > first) script_.text += ',';
      write(script_.text, next++);
    } while (next < items && next - first < kMostItems && script_.text.size() < kMostTextBytes);
    script_.text += ' ';
    script_.text += tail;
    if (counted) count_into(counted);
  }
  if (counted) checks_.push_back([counted, check = std::move(check)] { return check(*counted); });
}

void BatchText::add_rows(const MultiRow& statement, const RowSource& rows, CountCheck check) {
  const auto write = [&](std::string& text, std::size_t item) {
    text += '(';
    LiteralBinder values(text);
    rows.bind(values, item);
    text += statement.fixed;
    text += ')';
  };
  add_parts(statement.head, rows.count, write, statement.tail, std::move(check));
}

void BatchText::add_list(std::string_view head, const std::vector<std::string>& items,
                         std::string_view tail, CountCheck check) {
  const auto write = [&](std::string& text, std::size_t item) { text += items[item]; };
  add_parts(head, items.size(), write, tail, std::move(check));
}

void BatchText::append(BatchText& gathered) {
  gathered.connection_ = connection_;
  gathered.gathered_.push_back(std::move(gathered.script_));
  for (Script& script : std::exchange(gathered.gathered_, {})) {
    if (script.parts.empty()) continue;
    if (script_.text.size() + script.text.size() > kMostTextBytes) send();
    if (!script_.parts.empty()) script_.text += ';';
    for (Script::Part& part : script.parts) {
      script_.parts.push_back({script_.text.size() + part.at, std::move(part.visit)});
    }
    script_.text += script.text;
  }
  std::move(gathered.checks_.begin(), gathered.checks_.end(), std::back_inserter(checks_));
  gathered.checks_.clear();
}

void BatchText::send() {
  if (connection_ == nullptr) {
    gathered_.push_back(std::exchange(script_, {}));
    return;
  }
  if (sent_ && !script_.parts.empty()) sent_ = connection_->run_all(script_);
  script_ = {};
}

Result<void> BatchText::finish() {
  send();
  for (const Check& check : checks_) {
    if (sent_) sent_ = check();
  }
  checks_.clear();
  return sent_;
}

}  // namespace rota::master::store
