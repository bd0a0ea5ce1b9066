// What people are told of a worker, in one place for every command, page and log line. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "master/core/kept_rules.h"
#include "master/core/snapshot.h"

namespace rota::master::core {

/// Why a worker left that had been told to stop, and had nothing left.
inline constexpr std::string_view kWasStopped = "it was stopped";

/// "2026-03-29T02:30:00Z".
std::string second_text(WallTime at);

/// Why it is not online: since when it is away, who drains it and until when, and what its self check found.
/// Empty: nothing to say.
std::string remarks_on(const WorkerView& worker, WallTime now);

/// "w1 is drained by ann; w2 is offline since ...": those of this pool, or the one that is named, which take
/// nothing new; at most five. Empty: there are none.
std::string who_takes_nothing(const std::vector<WorkerView>& workers, const std::string& pool,
                              const std::string& named);

/// Why runs of these rules wait, where the workers that are here do not know their handler.
/// "os=deb12,deb13, zone=fin"
std::string labels_text(const std::map<std::string, std::string>& labels);

std::string unknown_handler_words(const KeptRules& rules);

}  // namespace rota::master::core
