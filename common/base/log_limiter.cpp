#include "common/base/log_limiter.h"

#include <algorithm>
#include <utility>

namespace rota {
namespace {

bool is_by_sentence(const LogRecord& record) {
  return record.level >= Severity::Warn || record.is_one_of_many;
}

std::string name_of_kind(const LogRecord& record) {
  std::string name = record.channel;
  name += '\0';
  name += name_of(record.level);
  name += '\0';
  name += record.sentence;
  if (is_by_sentence(record)) return name;
  for (const OwnedLogKey& key : record.keys) {
    name += '\0';
    name += key.name;
    name += '=';
    name += key.value;
  }
  return name;
}

}  // namespace

void LogLimiter::forget_quiet_lines(MonoTime now) {
  if (now - swept_ < std::chrono::seconds{1}) return;
  swept_ = now;
  std::erase_if(lines_, [&](const auto& one) {
    return one.second.held == 0 && now - one.second.began >= limits_.window;
  });
}

LogLimiter::Kind* LogLimiter::kind_of(const LogRecord& record, MonoTime now) {
  const bool is_line = !is_by_sentence(record);
  auto& known = is_line ? lines_ : kinds_;
  std::string name = name_of_kind(record);
  const auto found = known.find(name);
  if (found != known.end()) return &found->second;
  if (is_line && lines_.size() >= limits_.most_lines) forget_quiet_lines(now);
  if (is_line && lines_.size() >= limits_.most_lines) return nullptr;
  Kind& made = known[std::move(name)];
  made.began = now;
  return &made;
}

bool LogLimiter::admits(const LogRecord& record, MonoTime now) {
  if (record.level == Severity::Debug) return true;
  Kind* const kind = kind_of(record, now);
  if (kind == nullptr) return true;
  if (kind->held == 0 && now - kind->began >= limits_.window) {
    kind->began = now;
    kind->written = 0;
  }
  if (kind->written < limits_.burst) {
    ++kind->written;
    return true;
  }
  if (kind->held++ == 0) ++holding_;
  kind->order = ++order_;
  kind->last = record;
  return false;
}

std::vector<LogRecord> LogLimiter::release(MonoTime now, bool all) {
  std::vector<std::pair<std::uint64_t, LogRecord>> found;
  if (holding_ == 0) return {};
  for (auto* known : {&kinds_, &lines_}) {
    for (auto& [name, kind] : *known) {
      if (kind.held == 0 || (!all && now - kind.began < limits_.window)) continue;
      kind.last.keys.push_back({"repeated", std::to_string(kind.held), true});
      found.emplace_back(kind.order, std::exchange(kind.last, {}));
      kind.held = 0;
      kind.began = now;
      --holding_;
    }
  }
  std::ranges::sort(found, {}, [](const auto& one) { return one.first; });
  std::vector<LogRecord> out;
  for (auto& [order, record] : found) out.push_back(std::move(record));
  return out;
}

std::vector<LogRecord> LogLimiter::due(MonoTime now) { return release(now, false); }
std::vector<LogRecord> LogLimiter::rest() { return release({}, true); }

}  // namespace rota
