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

void read_way(MapReader& map, HookOptions& into) {
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

/// What receivers and hooks have alike.
void read_hook(MapReader& map, HookOptions& into, const char* whose_name) {
  if (map.require("name", whose_name)) into.name = map.text("name").value_or("");
  if (const auto wrong = check_name(into.name); !wrong.empty()) map.refuse("name", wrong);
  read_way(map, into);
  into.timeout = map.duration("timeout", Millis{100}, Millis{120'000}).value_or(into.timeout);
}

void read_one(MapReader& map, ReceiverOptions& into) {
  read_hook(map, into, "a receiver's name");
  if (into.name == "nobody") {
    map.refuse("name", "\"nobody\" means that none is told; choose another name");
  }
  read_events(map, into);
}

void read_one(MapReader& map, HookOptions& into) {
  read_hook(map, into, "a hook's name");
  if (into.name == "none") map.refuse("name", "\"none\" means that a pool has no hook; choose another name");
}

/// `what` names them, with an example behind.
template <typename Options>
std::vector<Options> read_list(const YamlNode& node, const std::string& source, const std::string& key,
                               const char* what, Problems& problems) {
  std::vector<Options> out;
  if (node.kind != YamlNode::Kind::List || node.items.size() > kReceiversMost) {
    problems.add(source, node.mark, key,
                 fmt::format("is no list of at most {} {}\"}}]", kReceiversMost, what));
    return out;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    MapReader map(node.items[i], source, fmt::format("{}[{}]", key, i), problems);
    read_one(map, out.emplace_back());
    map.refuse_unknown();
    const auto same = std::ranges::count(out, out.back().name, &Options::name);
    if (same > 1)
      problems.add(source, node.items[i].mark, key, fmt::format("'{}' is there twice", out.back().name));
  }
  return out;
}

/// "url: ..." or "command: [...]", as YAML.
std::string way_text(const HookOptions& hook) {
  if (hook.command.empty()) return "url: " + quoted_text(hook.url, 1000);
  std::vector<std::string> words;
  for (const std::string& word : hook.command) words.push_back(quoted_text(word, 1000));
  return fmt::format("command: [{}]", fmt::join(words, ", "));
}

}  // namespace

std::vector<ReceiverOptions> read_receivers(const YamlNode& node, const std::string& source,
                                            const std::string& key, Problems& problems) {
  return read_list<ReceiverOptions>(
      node, source, key, "receivers; write it like [{name: ops, url: \"http://10.0.0.9/alarm", problems);
}

std::vector<HookOptions> read_hooks(const YamlNode& node, const std::string& source, const std::string& key,
                                    Problems& problems) {
  return read_list<HookOptions>(node, source, key,
                                "hooks; write it like [{name: k8s, url: \"http://10.0.0.9/scale", problems);
}

std::string receiver_text(const ReceiverOptions& receiver) {
  std::string out = fmt::format("{{name: {}, {}", receiver.name, way_text(receiver));
  if (!receiver.events.empty()) out += fmt::format(", events: [{}]", fmt::join(receiver.events, ", "));
  return out + ", timeout: " + format_duration(receiver.timeout) + "}";
}

std::string hook_text(const HookOptions& hook) {
  return fmt::format("{{name: {}, {}, timeout: {}}}", hook.name, way_text(hook),
                     format_duration(hook.timeout));
}

}  // namespace rota::config
