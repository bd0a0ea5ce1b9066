#include "common/config/receivers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "common/config/options_table.h"

namespace rota::config {
namespace {

constexpr std::size_t kReceiversMost = 16;

void read_events(MapReader& map, ReceiverOptions& into) {
  const auto events = map.texts("events", true);
  if (!events) return;
  for (const std::string& event : *events) {
    if (std::ranges::find(kEventNames, event) != kEventNames.end()) {
      into.events.push_back(event);
    } else {
      map.refuse("events", fmt::format("{} is no event; allowed: {}", quoted_text(event),
                                       fmt::join(kEventNames, ", ")));
    }
  }
}

void read_way(MapReader& map, ReceiverOptions& into) {
  into.url = map.text("url").value_or("");
  into.command = map.texts("command").value_or(std::vector<std::string>{});
  const bool has_command = map.has("command");
  if (map.has("url") == has_command) {
    return map.refuse("name", has_command ? "has both url and command; keep one of them"
                                          : "has no url and no command; give one of them");
  }
  if (has_command && (into.command.empty() || into.command.front().empty())) {
    map.refuse("command", "names no program; write it as a list of words, like [/usr/local/bin/tell, ops]");
  }
  const bool is_http = into.url.starts_with("http://") || into.url.starts_with("https://");
  const bool is_plain =
      std::ranges::none_of(into.url, [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  if (!has_command && !(is_http && is_plain)) {
    map.refuse("url", fmt::format("{} is no address; write one that begins with http:// or https://",
                                  quoted_text(into.url)));
  }
}

ReceiverOptions read_receiver(const YamlNode& node, const std::string& source, const std::string& path,
                              Problems& problems) {
  MapReader map(node, source, path, problems);
  ReceiverOptions receiver;
  if (map.require("name", "a receiver's name")) receiver.name = map.text("name").value_or("");
  if (const auto wrong = check_name(receiver.name); !wrong.empty()) map.refuse("name", wrong);
  if (receiver.name == "nobody")
    map.refuse("name", "\"nobody\" means that none is told; choose another name");
  read_way(map, receiver);
  read_events(map, receiver);
  receiver.timeout = map.duration("timeout", Millis{100}, Millis{120'000}).value_or(receiver.timeout);
  map.refuse_unknown();
  return receiver;
}

}  // namespace

std::vector<ReceiverOptions> read_receivers(const YamlNode& node, const std::string& source,
                                            const std::string& key, Problems& problems) {
  std::vector<ReceiverOptions> out;
  if (node.kind != YamlNode::Kind::List || node.items.size() > kReceiversMost) {
    problems.add(source, node.mark, key,
                 fmt::format("is no list of at most {} receivers; write it like [{{name: ops, url: "
                             "\"http://10.0.0.9/alarm\"}}]",
                             kReceiversMost));
    return out;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    out.push_back(read_receiver(node.items[i], source, fmt::format("{}[{}]", key, i), problems));
    const auto same = std::ranges::count(out, out.back().name, &ReceiverOptions::name);
    if (same > 1)
      problems.add(source, node.items[i].mark, key, fmt::format("'{}' is there twice", out.back().name));
  }
  return out;
}

std::string receiver_text(const ReceiverOptions& receiver) {
  std::string out = fmt::format("{{name: {}", receiver.name);
  const auto words = [](const std::vector<std::string>& all) {
    std::vector<std::string> parts;
    for (const std::string& word : all) parts.push_back(quoted_text(word, 1000));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  };
  out += receiver.command.empty() ? ", url: " + quoted_text(receiver.url, 1000)
                                  : ", command: " + words(receiver.command);
  if (!receiver.events.empty()) out += fmt::format(", events: [{}]", fmt::join(receiver.events, ", "));
  return out + ", timeout: " + format_duration(receiver.timeout) + "}";
}

}  // namespace rota::config
