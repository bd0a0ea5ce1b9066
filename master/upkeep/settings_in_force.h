// The settings in force on this master, whether it leads or not: what its file says, and over it what
// operators have set. The leader's loop tells what it has stored; the database watch tells twice a second
// the number of the newest change, and only when that is another one the rows are read. Without the
// database, what was known stays in force.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/setting.h"

namespace rota::master {

/// What master.yaml and the environment say.
struct FileSettings {
  model::Settings values;
  std::set<std::string> given;  ///< names that they say; all others are built in
};

/// Thread: any.
class SettingsInForce {
 public:
  using Rows = std::vector<model::SettingRow>;
  using Changed = std::function<void(const model::Settings&)>;

  explicit SettingsInForce(FileSettings file) : file_(std::move(file)), values_(file_.values) {}

  /// Called with each change, in their order, by the thread that learned of it; it must not wait, nor ask
  /// this for anything. Before the first change only.
  void listen(Changed changed) { listeners_.push_back(std::move(changed)); }

  const FileSettings& file() const { return file_; }
  model::Settings values() const;
  Rows rows() const;

  /// The leader has stored these.
  void put(const Rows& rows);
  /// All that a takeover has read.
  void begin(Rows rows);
  /// `newest`: the number of the last change in the database. `read`: gives the newest row of each setting.
  /// Where the leader's word came while they were read, that one counts.
  Result<void> follow(std::int64_t newest, const std::function<Result<Rows>()>& read);

 private:
  void replace(Rows rows);

  const FileSettings file_;
  std::vector<Changed> listeners_;
  mutable std::mutex mutex_;
  Rows rows_;                ///< by name
  std::int64_t newest_ = 0;  ///< of their numbers
  std::int64_t words_ = 0;   ///< how often rows came
  model::Settings values_;
};

}  // namespace rota::master
