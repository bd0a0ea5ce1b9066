#include "client/context_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "common/base/spelling.h"
#include "common/base/utf8.h"
#include "common/config/options_table.h"
#include "common/config/yaml_reader.h"

namespace rota::client {
namespace {

std::string check_space(const std::string& value) {
  const std::string problem = config::check_name(value);
  return value.empty() ? "is empty; write the name of a namespace" : problem;
}

/// JSON's quotes are YAML's too.
std::string in_quotes(const std::string& text) { return nlohmann::json(text).dump(); }

Context read_context(const config::YamlNode& node, const std::string& source, const std::string& path,
                     config::Problems& problems) {
  config::MapReader reader(node, source, path, problems);
  Context out;
  for (const ContextSetting& setting : context_settings()) {
    const auto words = reader.texts(setting.name, true);
    if (!words) continue;
    const std::string value = fmt::format("{}", fmt::join(*words, ","));
    const std::string problem = setting.check(value);
    if (problem.empty()) {
      out[setting.name] = value;
    } else {
      reader.refuse(setting.name, quoted_text(value) + " " + problem);
    }
  }
  reader.refuse_unknown();
  return out;
}

}  // namespace

const std::vector<ContextSetting>& context_settings() {
  static const std::vector<ContextSetting> all = {
      {"masters", "--masters", "ROTA_MASTERS", "", "host:port of any masters, comma-separated",
       config::check_connect},
      {"zookeeper", "--zookeeper", "ROTA_ZOOKEEPER", "", "host:port,... of ZooKeeper",
       config::check_connect},
      {"cluster", "--cluster", "ROTA_CLUSTER", "rota", "the cluster's name in ZooKeeper",
       config::check_cluster},
      {"namespace", "--namespace", "ROTA_NAMESPACE", "default", "the namespace of jobs and runs",
       check_space},
  };
  return all;
}

const ContextSetting* context_setting(std::string_view name) {
  for (const ContextSetting& setting : context_settings()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::string context_name_problem(const std::string& name) {
  return name.empty() ? "is empty; write a name" : config::check_name(name);
}

ContextFile read_context_file(const std::string& source, std::string_view text, config::Problems& problems) {
  ContextFile out;
  const auto root = config::read_yaml(source, text, problems);
  if (!root) return out;
  config::MapReader reader(*root, source, "", problems);
  const auto current = reader.text("current");
  if (const config::YamlNode* contexts = reader.node("contexts")) {
    if (contexts->kind != config::YamlNode::Kind::Map) {
      reader.refuse("contexts", "takes a map: the name of each context, and what it says");
    }
    for (const auto& entry : contexts->entries) {
      const std::string path = "contexts." + entry.key;
      if (const std::string problem = context_name_problem(entry.key); !problem.empty()) {
        problems.add(source, entry.key_mark, path, quoted_text(entry.key) + " " + problem);
      }
      out.contexts[entry.key] = read_context(entry.value, source, path, problems);
    }
  }
  if (current && !out.contexts.contains(*current)) {
    const std::string name = quoted_text(*current);
    reader.refuse("current", "there is no context " + name + "; write one of those below, or remove this");
  }
  reader.refuse_unknown();
  out.current = current.value_or("");
  return out;
}

std::string context_file_text(const ContextFile& file) {
  std::string out =
      "# Contexts of rota. `rota context` writes this file anew: other comments are not kept.\n";
  if (!file.current.empty()) out += fmt::format("current: {}\n", in_quotes(file.current));
  out += file.contexts.empty() ? "contexts: {}\n" : "contexts:\n";
  for (const auto& [name, context] : file.contexts) {
    out += fmt::format("  {}:{}\n", in_quotes(name), context.empty() ? " {}" : "");
    for (const auto& [setting, value] : context) {
      out += fmt::format("    {}: {}\n", setting, in_quotes(value));
    }
  }
  return out;
}

Result<Context> context_named(const ContextFile& file, const std::string& name, const std::string& path) {
  const auto found = file.contexts.find(name);
  if (found != file.contexts.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [each, context] : file.contexts) known.push_back(each);
  const std::string there =
      known.empty() ? "it has none; rota context set makes one"
                    : fmt::format("it has: {}", fmt::join(known, ", "));
  return fail(ErrorCode::NotFound, fmt::format("{} has no context {}{}; {}", path, quoted_text(name),
                                               did_you_mean(name, known), there));
}

std::string context_file_path(const std::string& xdg_config_home, const std::string& home) {
  if (xdg_config_home.starts_with('/')) return xdg_config_home + "/rota/config.yaml";
  return home.starts_with('/') ? home + "/.config/rota/config.yaml" : "";
}

}  // namespace rota::client
