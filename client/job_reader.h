// Reads a job of a job file by the field table: for each row its key, kind, limits and words.
#pragma once

#include <job_types.h>

#include <deque>
#include <string>
#include <string_view>

#include "common/config/yaml_reader.h"

namespace rota::client {

/// The maps of one job: its own, and one for each group of the table ("retry:").
/// Thread: one. `node`, `source` and `problems` must outlive it.
class JobMaps {
 public:
  JobMaps(const config::YamlNode& node, const std::string& source, const std::string& path,
          config::Problems& problems);

  config::MapReader& top() { return top_; }
  /// The map of a group; "" is the job's own. nullptr: it is not there, or written as one value.
  config::MapReader* group(std::string_view key);
  /// The group is written as one value, and may be.
  bool is_short(std::string_view key);
  /// Of the job and of each group. Call it last.
  void refuse_unknown();

 private:
  struct Opened {
    std::string_view key;
    config::MapReader map;
  };

  const std::string& source_;
  config::Problems& problems_;
  config::MapReader top_;
  std::deque<Opened> groups_;  // readers cannot move
};

/// Every field with a row, except those whose syntax is their own: name, command, and when it fires.
void read_fields(JobMaps& maps, thrift::JobDefinition& into);

/// A key of the job itself that stands in the map of a group is told where it belongs.
void refuse_keys_of_the_job(const config::YamlNode& node, config::MapReader& map, std::string_view group);

}  // namespace rota::client
