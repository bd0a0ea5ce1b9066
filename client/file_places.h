// Where in a job file stands what only the server refuses: a cron's fields, a time zone, a schedule that can
// never fire. The server names the key ("schedule[1].cron"); the file says how it is written there.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/yaml_reader.h"

namespace rota::client {

/// A file that could be read. It is looked at again at the first question. Thread: one.
class FilePlaces {
 public:
  FilePlaces(std::string source, std::string text) : source_(std::move(source)), text_(std::move(text)) {}

  /// Of a problem that begins with its key: "job.yaml:3:18", the place of the key's value. Where the file
  /// does not have that key, the place of what it would stand in. `index`: of the job, or calendar, in it.
  std::string place_in_job(std::size_t index, std::string_view problem);
  std::string place_in_calendar(std::size_t index, std::string_view problem);

 private:
  const config::YamlNode* item(std::string_view list, std::size_t index);
  std::string place(const config::YamlNode* node) const;

  std::string source_, text_;
  bool is_read_ = false;
  std::optional<config::YamlNode> document_;
};

/// Which job, or calendar, of which file.
struct Origin {
  std::shared_ptr<FilePlaces> file;
  std::size_t index = 0;
};

/// What a person is told of a refused job: each problem with its place; or `message`, when the server has not
/// told them one by one.
std::vector<std::string> job_refusal(const std::string& name, const std::string& message,
                                     const std::vector<std::string>& problems, const Origin& origin);
/// Of a calendar.
std::vector<std::string> calendar_refusal(const std::string& name, const std::string& message,
                                          const std::vector<std::string>& problems, const Origin& origin);

}  // namespace rota::client
