#include "master/store/newest_lives.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rota::master::store {
namespace {

bool is_newer(const core::WorkerLife& one, const core::WorkerLife& other) {
  const auto place = [](const core::WorkerLife& life) {
    return std::tuple(life.joined, !life.left.has_value(), life.left.value_or(WallTime{}));
  };
  return place(one) > place(other);
}

}  // namespace

std::vector<core::WorkerLife> newest_of_each(std::vector<core::WorkerLife> lives) {
  std::ranges::sort(lives, [](const core::WorkerLife& one, const core::WorkerLife& other) {
    if (one.key.id != other.key.id) return one.key.id < other.key.id;
    if (is_newer(one, other) != is_newer(other, one)) return is_newer(one, other);
    return one.key.incarnation < other.key.incarnation;
  });
  const auto is_same = [](const core::WorkerLife& one, const core::WorkerLife& other) {
    return one.key.id == other.key.id;
  };
  lives.erase(std::unique(lives.begin(), lives.end(), is_same), lives.end());
  return lives;
}

}  // namespace rota::master::store
