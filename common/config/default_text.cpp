// --print-default-config: the table as a commented YAML file.
#include <fmt/format.h>

#include "common/config/load.h"
#include "common/config/options_table.h"

namespace rota::config {
namespace {

constexpr std::size_t kColumns = 100;

/// The sentences as comment lines of at most kColumns characters.
std::string comment_lines(const std::string& text, const std::string& indent) {
  std::string out;
  std::string line = indent + "#";
  std::size_t at = 0;
  while (at < text.size()) {
    const auto space = std::min(text.find(' ', at), text.size());
    const auto word = text.substr(at, space - at);
    if (line.size() + 1 + word.size() > kColumns) {
      out += line + '\n';
      line = indent + "#";
    }
    line += ' ' + word;
    at = space + 1;
  }
  return out + line + '\n';
}

std::string section_of(const std::string& key) {
  const auto dot = key.find('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

/// What is allowed, and when it is read.
std::string remark_of(const Setting& setting) {
  const std::string allowed = setting.allowed();
  std::string out = allowed.empty() ? "" : fmt::format("Allowed: {}.", allowed);
  if (setting.reloads) out += std::string(out.empty() ? "" : " ") + "SIGHUP reads it again.";
  return out;
}

std::string default_yaml(std::string_view program, const std::vector<Setting>& settings) {
  std::string out = comment_lines(
      fmt::format("Every setting of {} with its default, as {} --print-default-config writes it. "
                  "A setting that is left out has its default. An environment variable can also give a "
                  "setting: ROTA_ and its key in capitals, with _ for the dot "
                  "(ROTA_ZOOKEEPER_CONNECT). Unknown and repeated keys are errors; {} "
                  "--check-config reports them.",
                  program, program, program),
      "");
  std::string section;
  for (const auto& setting : settings) {
    const std::string own = section_of(setting.key);
    if (own.empty() || own != section) out += '\n';
    if (!own.empty() && own != section) out += own + ":\n";
    section = own;
    const std::string indent = own.empty() ? "" : "  ";
    const std::string name = own.empty() ? setting.key : setting.key.substr(own.size() + 1);
    out += comment_lines(setting.comment, indent);
    if (const auto remark = remark_of(setting); !remark.empty())
      out += comment_lines(remark, indent);
    out += fmt::format("{}{}: {}\n", indent, name, setting.value_text());
  }
  return out;
}

}  // namespace

std::string default_master_yaml() {
  MasterOptions options;
  return default_yaml("rota-master", settings_of(options));
}

std::string default_worker_yaml() {
  WorkerOptions options;
  return default_yaml("rota-worker", settings_of(options));
}

}  // namespace rota::config
