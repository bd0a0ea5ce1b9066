// What people are shown of quotas: the limits of pools and namespaces, and what is used of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/model/quota.h"

namespace rota::master::core {

struct QuotaView {
  std::string name;
  std::int32_t version = 0;            ///< of the limits; 0: none were ever set
  model::Quota quota;
  std::int64_t held = 0;               ///< runs that workers hold
  std::int64_t queued = 0;             ///< runs that wait for a slot
  std::int64_t unfinished = 0;         ///< of a namespace
  std::int64_t jobs = 0;               ///< of a namespace: saved ones
  std::int64_t firings = 0;            ///< of a namespace with a limit of them: in the present minute
  std::vector<RunId> holders = {};     ///< where its slots are limited: runs that workers hold, at most 10
};

class State;

/// By name: those with limits, runs or jobs; at most 10,000.
std::vector<QuotaView> quota_views(const State& state, model::QuotaOf of);

}  // namespace rota::master::core
