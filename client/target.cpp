#include "client/target.h"

#include <fmt/format.h>

#include "common/base/utf8.h"

namespace rota::client {
namespace {

constexpr const char* kBuiltIn = "built in";
constexpr const char* kNotSet = "not set";

/// A smaller voice is stronger.
enum class Voice { Option, Environment, Context, BuiltIn, Nobody };

struct Heard {
  Said said;
  Voice voice = Voice::Nobody;
};

Heard hear(const ContextSetting& setting, const SaidSettings& options, const SaidSettings& environment,
           const Context& context, const std::string& context_name) {
  if (const auto one = options.find(setting.name); one != options.end()) {
    return {{one->second, setting.option}, Voice::Option};
  }
  if (const auto one = environment.find(setting.name); one != environment.end() && !one->second.empty()) {
    return {{one->second, setting.environment}, Voice::Environment};
  }
  if (const auto one = context.find(setting.name); one != context.end()) {
    return {{one->second, "context " + context_name}, Voice::Context};
  }
  if (setting.built_in.empty()) return {{"", kNotSet}, Voice::Nobody};
  return {{setting.built_in, kBuiltIn}, Voice::BuiltIn};
}

Said chosen_context(const SaidSettings& options, const SaidSettings& environment, const ContextFile& file,
                const std::string& path) {
  if (const auto one = options.find("context"); one != options.end()) return {one->second, "--context"};
  if (const auto one = environment.find("context"); one != environment.end() && !one->second.empty()) {
    return {one->second, "ROTA_CONTEXT"};
  }
  return file.current.empty() ? Said{"", kNotSet} : Said{file.current, path};
}

}  // namespace

bool Target::is_set(const std::string& name) const {
  const std::string& by = settings.at(name).by;
  return by != kBuiltIn && by != kNotSet;
}

std::string Target::words() const {
  std::string place = "masters " + (*this)["masters"];
  if ((*this)["masters"].empty() && (*this)["zookeeper"].empty()) {
    place = "no cluster";
  } else if ((*this)["masters"].empty()) {
    place = fmt::format("cluster {} at ZooKeeper {}", (*this)["cluster"], (*this)["zookeeper"]);
  }
  place += ", namespace " + (*this)["namespace"];
  return shown_text(context.value.empty() ? place : fmt::format("context {}: {}", context.value, place),
                    std::string_view::npos);
}

Result<Target> choose_target(const SaidSettings& options, const SaidSettings& environment,
                             const ContextFile& file, const std::string& path) {
  Target out;
  out.context = chosen_context(options, environment, file, path);
  Context context;
  if (!out.context.value.empty()) {
    const auto named = context_named(file, out.context.value, path);
    if (!named) {
      return fail(named.error().code, named.error().message + " (" + out.context.by + " asks for it)");
    }
    context = *named;
  }
  std::map<std::string, Voice> voices;
  for (const ContextSetting& setting : context_settings()) {
    const Heard heard = hear(setting, options, environment, context, out.context.value);
    out.settings[setting.name] = heard.said;
    voices[setting.name] = heard.voice;
  }
  if (voices["zookeeper"] < voices["masters"] && !out["masters"].empty()) {
    const std::string by = out.settings["zookeeper"].by;
    out.settings["masters"] = {"", "not set, since " + by + " says where to look"};
  }
  return out;
}

}  // namespace rota::client
