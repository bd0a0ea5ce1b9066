#include "client/file_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "client/job_file.h"
#include "common/base/utf8.h"

namespace rota::client {
namespace {

using config::YamlNode;

/// "schedule[1].cron" as "schedule", "1", "cron"; empty: the sentence begins with no key.
using Path = std::vector<std::string_view>;

constexpr std::string_view kOfKeys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

Path path_of(std::string_view problem) {
  Path out;
  std::size_t at = 0;
  while (at < problem.size()) {
    const std::size_t end = std::min(problem.find_first_not_of(kOfKeys, at), problem.size());
    if (end == at) break;
    out.push_back(problem.substr(at, end - at));
    at = end;
    if (at < problem.size() && problem[at] == ']') ++at;
    if (at >= problem.size() || (problem[at] != '.' && problem[at] != '[')) break;
    ++at;
  }
  return out;
}

const YamlNode* value_of(const YamlNode* node, std::string_view key) {
  return node != nullptr && node->kind == YamlNode::Kind::Map ? node->find(key) : nullptr;
}

const YamlNode* child(const YamlNode& node, std::string_view name) {
  if (node.kind == YamlNode::Kind::Map) return node.find(name);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool is_index = error == std::errc{} && end == name.data() + name.size();
  if (node.kind != YamlNode::Kind::List || !is_index || index >= node.items.size()) return nullptr;
  return &node.items[index];
}

/// As far as the file has it.
const YamlNode* follow(const YamlNode* node, const Path& path, std::size_t from) {
  for (std::size_t i = from; i < path.size(); ++i) {
    const YamlNode* next = child(*node, path[i]);
    if (next == nullptr) return node;
    node = next;
  }
  return node;
}

/// A key of an entry, in it or beside `schedule:`.
const YamlNode* key_of_entry(const YamlNode* job, const YamlNode* entry, std::string_view key) {
  if (const YamlNode* own = value_of(entry, key)) return own;
  const YamlNode* shared = value_of(job, key);
  return shared != nullptr ? shared : entry;
}

/// Where the schedule is a line or a map, that is its one entry.
const YamlNode* entry_at(const YamlNode* schedule, std::string_view index) {
  const YamlNode* in_list = schedule->kind == YamlNode::Kind::List ? child(*schedule, index) : nullptr;
  return in_list != nullptr ? in_list : schedule;
}

const YamlNode* find_in_job(const YamlNode* job, const Path& path) {
  const YamlNode* schedule = value_of(job, "schedule");
  if (path.empty()) return job;
  // Of a schedule of one entry the server says "cron" and "time_zone" alone.
  const bool is_of_only_entry = path[0] == "cron" || path[0] == "time_zone";
  if (schedule == nullptr || (path[0] != "schedule" && !is_of_only_entry)) return follow(job, path, 0);
  if (is_of_only_entry) return key_of_entry(job, entry_at(schedule, "0"), path[0]);
  if (path.size() == 1) return schedule;
  const YamlNode* entry = entry_at(schedule, path[1]);
  return path.size() == 2 ? entry : key_of_entry(job, entry, path[2]);
}

template <typename Place>
std::vector<std::string> refusal(std::string_view what, const std::string& name, const std::string& message,
                                 const std::vector<std::string>& problems, Place place) {
  std::vector<std::string> out;
  for (const std::string& problem : problems) {
    out.push_back(fmt::format("{} {} {}: {}", place(problem), what, shown_text(name), problem));
  }
  if (out.empty()) out.push_back(fmt::format("rota: {} {}: {}", what, shown_text(name), message));
  return out;
}

}  // namespace

const YamlNode* FilePlaces::item(std::string_view list, std::size_t index) {
  if (!is_read_) {
    config::Problems none;
    document_ = config::read_yaml(source_, text_, none, kLargestJobFile);
    text_.clear();
    is_read_ = true;
  }
  if (!document_) return nullptr;
  const YamlNode* items = value_of(&*document_, list);
  if (items == nullptr) return &*document_;  // a job alone
  return index < items->items.size() ? &items->items[index] : items;
}

std::string FilePlaces::place(const YamlNode* node) const {
  if (node == nullptr || node->mark.line == 0) return source_;
  return fmt::format("{}:{}:{}", source_, node->mark.line, node->mark.column);
}

std::string FilePlaces::place_in_job(std::size_t index, std::string_view problem) {
  const YamlNode* job = item("jobs", index);
  return place(job == nullptr ? nullptr : find_in_job(job, path_of(problem)));
}

std::string FilePlaces::place_in_calendar(std::size_t index, std::string_view problem) {
  const YamlNode* calendar = item("calendars", index);
  return place(calendar == nullptr ? nullptr : follow(calendar, path_of(problem), 0));
}

std::vector<std::string> job_refusal(const std::string& name, const std::string& message,
                                     const std::vector<std::string>& problems, const Origin& origin) {
  return refusal("job", name, message, problems, [&](const std::string& problem) {
    return origin.file->place_in_job(origin.index, problem);
  });
}

std::vector<std::string> calendar_refusal(const std::string& name, const std::string& message,
                                          const std::vector<std::string>& problems, const Origin& origin) {
  return refusal("calendar", name, message, problems, [&](const std::string& problem) {
    return origin.file->place_in_calendar(origin.index, problem);
  });
}

}  // namespace rota::client
