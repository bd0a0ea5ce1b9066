// Why a run is in its state, as a sentence for people with the remedy where there is one. Pure.
#pragma once

#include <string>

#include "common/model/run.h"

namespace rota::master::api {

/// `detail` is what the leader added: the run that is waited for, who cancelled ...
std::string sentence_for(model::RunState state, model::Reason reason, const std::string& detail,
                         const std::string& pool);

}  // namespace rota::master::api
