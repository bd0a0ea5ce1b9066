// Whether an attempt started on a worker that its job allows, by the worker's own word.
#pragma once

#include <map>
#include <string>

#include "common/model/job.h"
#include "common/model/worker.h"

namespace rota::sim {

/// Of each label that is asked for one of the words. Pure.
bool has_labels(const model::WorkerInfo& worker, const std::map<std::string, std::string>& asked);

/// Empty, or what is wrong with it. Pure.
std::string judge_route(const model::JobRules& rules, const std::string& handler, const model::WorkerInfo& worker);

}  // namespace rota::sim
