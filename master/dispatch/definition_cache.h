// What runs, by job and version: immutable rows, so a cache can't be stale.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "master/store/reader.h"
#include "worker_types.h"

namespace rota::master::dispatch {

/// What a job version runs, ready to be sent.
struct ReadyWork {
  std::string job_name;
  std::string space;
  thrift::Work work;
  std::string hash;          ///< of `work`, 32 bytes
  std::size_t weight = 0;    ///< of `work`
};

/// The least recently used go first, by number and by estimated bytes. Thread: any; a fetch holds no
/// lock.
class DefinitionCache {
 public:
  using Definition = std::shared_ptr<const ReadyWork>;

  /// `reader` outlives it.
  DefinitionCache(store::Reader& reader, std::size_t most_entries, std::size_t most_bytes)
      : reader_(reader), most_entries_(most_entries), most_bytes_(most_bytes) {}

  /// Asks the store when it is not here, twice when the first try fails. The store's errors.
  Result<Definition> get(JobId job, JobVersion version);

  std::size_t size() const;

 private:
  using Key = std::pair<JobId, JobVersion>;
  struct Entry {
    Key key;
    Definition definition;
    std::size_t bytes = 0;
  };

  Definition find(const Key& key);
  void keep(const Key& key, const Definition& definition);

  store::Reader& reader_;
  const std::size_t most_entries_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  std::list<Entry> by_use_;  ///< the latest used first
  std::map<Key, std::list<Entry>::iterator> entries_;
  std::size_t bytes_ = 0;
};

/// Pure.
ReadyWork make_ready(const model::JobDefinition& definition);

}  // namespace rota::master::dispatch
