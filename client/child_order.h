// In which order the jobs of one apply are sent: a job behind those that it names as child jobs, since the
// leader refuses names that it does not know; and those of one deletion: a job before those that it names,
// since the leader does not delete what others name. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "job_types.h"

namespace rota::client {

struct ChildOrder {
  std::vector<std::size_t> order;      ///< places in the list that was given; else as they came
  std::string circle;                  ///< "a -> b -> a": these name each other; empty: none do
};
ChildOrder child_order(const std::vector<thrift::JobDefinition>& jobs);

/// Places: a job before those that it names, else as they came. All as they came where there is a circle.
std::vector<std::size_t> parents_first(const std::vector<thrift::JobDefinition>& jobs);

/// A name under one of the keys on_success, on_failure and on_end.
struct NamedChild {
  std::string place;                   ///< "on_success[1]"
  std::string name;
};
std::vector<NamedChild> named_children(const thrift::JobDefinition& job);

}  // namespace rota::client
