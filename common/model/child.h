// Child jobs: when a run ends for good, a run of each job begins that its own job names for such an end. Runs
// so make trees: each has one parent, and all of a tree have the run with which it began, the root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/run.h"

namespace rota::model {

/// Runs of child jobs have this principal and child_key() as request key, so that none is made twice. No
/// caller has this name.
inline constexpr const char* kChildPrincipal = "rota.child";

/// No run begins further below its root. Saved jobs name no circle; later edits may make one all the same.
inline constexpr std::int32_t kDeepestChild = 16;
/// Names under each of the three keys.
inline constexpr std::int32_t kMostChildren = 16;

/// The key of the parent's job that names the child.
enum class ChildKey { Success, Failure, End };
inline constexpr std::string_view name_of(ChildKey key) {
  return key == ChildKey::Success ? "on_success" : key == ChildKey::Failure ? "on_failure" : "on_end";
}
inline constexpr std::optional<ChildKey> child_key_named(std::string_view name) {
  for (const ChildKey key : {ChildKey::Success, ChildKey::Failure, ChildKey::End}) {
    if (name == name_of(key)) return key;
  }
  return std::nullopt;
}

/// Where a run of a child job stands in its tree.
struct Parentage {
  RunId parent;
  RunId root;
  std::int32_t depth = 0;              ///< 1: the root is its parent
  RunState ended{};                    ///< how its parent did
  bool operator==(const Parentage&) const = default;
};

/// The row `run_child`: what became of one name at the end of one run.
struct ChildRow {
  RunId parent;
  std::string name;                    ///< of the child job, in its parent's namespace
  ChildKey key = ChildKey::Success;
  RunId root;
  std::int32_t depth = 0;
  RunState ended{};                    ///< how the parent did
  WallTime made{};
  RunId run;                           ///< 0: none began
  Reason reason = Reason::None;        ///< then: why
  bool operator==(const ChildRow&) const = default;

  Parentage parentage() const { return {parent, root, depth, ended}; }
};

struct NamedChild {
  ChildKey key = ChildKey::Success;
  std::string name;
  bool operator==(const NamedChild&) const = default;
};

/// The row `child_owed`: a run has ended, and its children begin in a later turn.
struct OwedChildren {
  RunId parent;
  RunId root;
  std::int32_t depth = 0;              ///< of the children
  RunState ended{};                    ///< how the parent did
  std::string space;
  WallTime logical{};                  ///< of the parent, and of its children
  std::vector<NamedChild> children;    ///< in the order of keys and of the job's lists
  bool operator==(const OwedChildren&) const = default;
};

inline std::string child_key(RunId parent, std::string_view name) {
  return "child/" + std::to_string(parent.value) + "/" + std::string(name);
}

}  // namespace rota::model
