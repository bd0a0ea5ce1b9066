// Why a run is in its state, as a sentence for people with the remedy where there is one. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/model/job.h"
#include "common/model/run.h"
#include "master/core/snapshot.h"

namespace rota::master::api {

/// The reason alone; empty for none.
std::string reason_sentence(model::Reason reason, const std::string& pool);

/// `detail` is what the leader added: the run that is waited for, who cancelled ...
std::string sentence_for(model::RunState state, model::Reason reason, const std::string& detail,
                         const std::string& pool);

/// The same of a run that the leader knows, as its snapshot has it: names the worker that does not answer and
/// what follows when, or the workers that take nothing new.
std::string sentence_now(const core::RunView& run, const std::vector<core::WorkerView>& workers,
                         const model::JobRules& rules, WallTime now);

}  // namespace rota::master::api
