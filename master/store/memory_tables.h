// The tables of MemoryStore.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "master/store/memory_store.h"

namespace rota::master::store {

struct MemoryStore::Tables {
  Epoch epoch;
  std::string cluster_uuid;
  Millis longest_grant{0};
  std::optional<WallTime> watermark;
  std::map<JobId, model::Job> jobs;
  std::map<std::pair<JobId, JobVersion>, model::JobVersionRow> versions;
  std::map<RunId, model::Run> runs;
  std::map<std::pair<JobId, WallTime>, RunId> run_of_tick;
  std::map<std::pair<std::string, std::string>, RunId> run_of_key;  ///< (principal, key)
  std::map<std::pair<std::string, std::string>, JobId> job_of_name; ///< (namespace, name), saved ones
  std::map<std::pair<RunId, AttemptNo>, model::AttemptRow> attempts;
  std::map<RunId, model::RunNote> notes;
  std::map<std::tuple<JobId, JobVersion, WallTime>, model::Gap> gaps;
  std::map<model::WorkerKey, core::WorkerLife> lives;
  std::map<std::string, model::WorkerDrain> drains;
  std::map<std::tuple<model::AttemptKey, LogStream, std::int64_t>, LogChunk> chunks;
  std::map<RunId, WallTime> pruned;
};

}  // namespace rota::master::store
