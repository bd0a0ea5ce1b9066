// The settings `receivers` and `hooks`: lists of maps. Private to common/config, except names of events.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/options.h"
#include "common/config/yaml_reader.h"

namespace rota::config {

/// What a receiver may ask for (model::Happening).
inline constexpr std::array<std::string_view, 11> kEventNames = {
    "failed",      "lost",           "missed",      "late",      "stuck",
    "self_paused", "worker_offline", "worker_dead", "no_leader", "ticks_held",
    "low_capacity"};

/// Those that are fine; of the others `problems` says what is wrong.
std::vector<ReceiverOptions> read_receivers(const YamlNode& node, const std::string& source,
                                            const std::string& key, Problems& problems);
std::vector<HookOptions> read_hooks(const YamlNode& node, const std::string& source, const std::string& key,
                                    Problems& problems);
/// As YAML, in one line.
std::string hook_text(const HookOptions& hook);
std::string receiver_text(const ReceiverOptions& receiver);

}  // namespace rota::config
