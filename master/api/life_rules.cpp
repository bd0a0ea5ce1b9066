#include "master/api/life_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>

namespace rota::master::api {
namespace {

using core::WorkerLife;

bool is_here(const WorkerLife& row, const core::Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.workers, [&](const core::WorkerView& view) {
    return view.info->key == row.key && !core::is_away(view) && !view.left;
  });
}

/// Rows of one process stand together, the newest process first.
bool stands_before(const WorkerLife& one, const WorkerLife& other) {
  return std::tuple(-to_ms(one.joined), model::home_of(one.key)) <
         std::tuple(-to_ms(other.joined), model::home_of(other.key));
}

bool is_same_process(const WorkerLife& one, const WorkerLife& other) {
  return !stands_before(one, other) && !stands_before(other, one);
}

/// One that is here is newer; else one that has not left; else the one that left last.
bool is_newer(const WorkerLife& one, const WorkerLife& other, const core::Snapshot* snapshot) {
  if (snapshot != nullptr && is_here(one, *snapshot) != is_here(other, *snapshot)) {
    return is_here(one, *snapshot);
  }
  if (one.left.has_value() != other.left.has_value()) return !one.left;
  return one.left > other.left;
}

/// Joins the rows of one process. `next`: the life after it; nullptr: it is the newest.
WorkerLife one_life(std::span<const WorkerLife> rows, const WorkerLife* next,
                    const core::Snapshot* snapshot) {
  const auto newest = std::ranges::min_element(
      rows, [&](const WorkerLife& one, const WorkerLife& other) { return is_newer(one, other, snapshot); });
  WorkerLife life = *newest;
  const bool is_gone = next != nullptr || (snapshot != nullptr && !is_here(life, *snapshot));
  if (is_gone && !life.left) {
    life.left = std::ranges::max_element(rows, {}, &WorkerLife::left)->left;
    if (!life.left && next != nullptr) life.left = next->joined;
    life.why_left = "no leader saw it leave";
  }
  if (rows.size() == 1) return life;
  if (!life.why_left.empty()) life.why_left += "; ";
  life.why_left += fmt::format("registered {} times: its session with ZooKeeper had ended", rows.size());
  return life;
}

}  // namespace

std::vector<WorkerLife> lives_of_processes(std::vector<WorkerLife> rows, const core::Snapshot* snapshot) {
  std::ranges::stable_sort(rows, stands_before);
  std::vector<WorkerLife> out;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end = std::find_if(begin, rows.end(),
                                  [&](const WorkerLife& row) { return !is_same_process(*begin, row); });
    out.push_back(one_life({begin, end}, out.empty() ? nullptr : &out.back(), snapshot));
    begin = end;
  }
  return out;
}

}  // namespace rota::master::api
