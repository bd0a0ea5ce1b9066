// Which saved job has a name. One array, half empty at least: a place is a pointer to the job, with some
// bits of its name's hash where no pointer has any, so that a search reads another job's name only by a rare
// chance. A takeover enters a million names at once: chains of nodes all over the memory would take it far
// longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/check.h"

namespace rota::master::core {

/// `Job` has row.name and row.space(); it stays where it is and keeps both while it is in the index.
/// Thread: the Scheduler's.
template <typename Job>
class NameIndex {
 public:
  Job* find(std::string_view space, std::string_view name) const {
    if (places_.empty()) return nullptr;
    return job_in(places_[place_of(space, name, hash_of(space, name))]);
  }

  /// From now on the name leads to this job. Whoever had it is not found by it any more.
  void set(Job& job) {
    if ((size_ + 1) * 2 > places_.size()) resize(size_ + 1);
    const std::uint64_t hash = hash_of(job);
    std::uint64_t& place = places_[place_of(job.row.space(), job.row.name, hash)];
    if (place == 0) ++size_;
    place = entry(job, hash);
  }

  /// Nothing when the name leads to another one.
  void erase(const Job& job) {
    if (find(job.row.space(), job.row.name) != &job) return;
    std::size_t hole = place_of(job.row.space(), job.row.name, hash_of(job));
    places_[hole] = 0;
    --size_;
    // Those behind it that a search would not reach any more move up.
    for (std::size_t at = next(hole); places_[at] != 0; at = next(at)) {
      const std::size_t home = hash_of(*job_in(places_[at])) & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      places_[hole] = std::exchange(places_[at], 0);
      hole = at;
    }
  }

  /// So many follow.
  void reserve(std::size_t jobs) {
    if (jobs * 2 > places_.size()) resize(jobs);
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr unsigned kPointerBits = 48;
  static constexpr std::uint64_t kPointer = (std::uint64_t{1} << kPointerBits) - 1;

  static std::uint64_t hash_of(std::string_view space, std::string_view name) {
    const std::hash<std::string_view> hash;
    return (hash(name) ^ (hash(space) * 31)) * 0x9E37'79B9'7F4A'7C15ull;
  }
  static std::uint64_t hash_of(const Job& job) { return hash_of(job.row.space(), job.row.name); }
  static Job* job_in(std::uint64_t place) { return reinterpret_cast<Job*>(place & kPointer); }
  static std::uint64_t entry(Job& job, std::uint64_t hash) {
    const auto pointer = reinterpret_cast<std::uint64_t>(&job);
    CHECK_OR_DIE((pointer & ~kPointer) == 0, "a pointer has more bits than are known of");
    return pointer | (hash & ~kPointer);
  }

  std::size_t mask() const { return places_.size() - 1; }
  std::size_t next(std::size_t place) const { return (place + 1) & mask(); }

  /// Where it is, or where it would go.
  std::size_t place_of(std::string_view space, std::string_view name, std::uint64_t hash) const {
    std::size_t at = hash & mask();
    for (; places_[at] != 0; at = next(at)) {
      if (((places_[at] ^ hash) & ~kPointer) != 0) continue;
      const Job& job = *job_in(places_[at]);
      if (job.row.name == name && job.row.space() == space) break;
    }
    return at;
  }

  void resize(std::size_t jobs) {
    std::size_t wanted = 16;
    while (wanted < jobs * 2) wanted *= 2;
    for (const std::uint64_t place : std::exchange(places_, std::vector<std::uint64_t>(wanted))) {
      if (place == 0) continue;
      std::size_t at = hash_of(*job_in(place)) & mask();
      while (places_[at] != 0) at = next(at);
      places_[at] = place;
    }
  }

  std::vector<std::uint64_t> places_;  ///< a power of two; 0: free
  std::size_t size_ = 0;
};

}  // namespace rota::master::core
