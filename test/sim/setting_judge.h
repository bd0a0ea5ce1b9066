// Judges what settings promise: by rows, that their versions have no hole and that nothing is acted on before it is
// stored; of each leader, that it decides by what is stored, from its first moment on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "marks.h"
#include "master/core/effect.h"
#include "sim_tables.h"

namespace rota::sim {

/// Thread: one.
class SettingJudge {
 public:
  explicit SettingJudge(Marks& marks) : marks_(marks) {}

  /// Before the rows of the batch are put into the tables. Empty, or what is wrong.
  std::string judge_batch(const SimTables& tables, const master::core::Changes& changes) const;
  /// A Term begins: what its core goes by, over what its own file says.
  std::string judge_takeover(const SimTables& tables, const model::Settings& file,
                             const model::Settings& in_force) const;
  /// A master acts on these beside its core, which goes by `in_force`. `is_lossy`: the database went back once.
  std::string judge_told(const SimTables& tables, const std::vector<model::SettingRow>& rows,
                         const model::Settings& in_force, const model::Settings& file, bool is_lossy);
  /// Somebody asks for it, now.
  void note_asked(const std::string& name, std::optional<std::int64_t> value) { asked_[name].values.push_back(value); }

 private:
  /// In the order in which they were asked for.
  struct Asked {
    std::vector<std::optional<std::int64_t>> values;
    std::size_t told = 0;              ///< the one that was told last
  };
  Marks& marks_;
  std::map<std::string, Asked> asked_;
};

}  // namespace rota::sim
