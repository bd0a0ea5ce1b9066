// Saves the look-up of keys that rota's own clients made (model::kOwnKeyPrefix). They grow with time: nearly
// every new one is greater than all that stand in the store, and so can not stand there.
//
// The greatest stored key of a principal, its floor, is read once a second. A key above it was not stored
// when it was read. Since then only the Term that led at that moment can have stored it: older leaders are
// fenced, and younger ones end that Term. The Term remembers what it decides; the core checks that it is the
// same Term, and that it has forgotten nothing since (core::UnusedKeys). A wrong clock makes keys that are
// too small, which are looked up, or too great, which raise the floor for the others: only speed depends on
// clocks.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "master/core/event.h"
#include "master/store/reader.h"

namespace rota::master::api {

/// Thread: any.
class KeyFloors {
 public:
  static constexpr Millis kReadEvery{1000};
  static constexpr Millis kDistrust{10'000};
  static constexpr std::size_t kPrincipalsMost = 1000;

  /// It outlives this.
  explicit KeyFloors(store::Reader& reader) : reader_(reader) {}

  /// What the core needs to know when none of these keys needs to be looked up. Nothing: look all of them up.
  /// `term` leads now. May ask the store.
  std::optional<core::UnusedKeys> vouch(Epoch term, const std::string& principal,
                                        const std::vector<std::string>& keys, MonoTime now);

  /// The core did not accept it: for a while keys are looked up, so that whoever asks again gets an answer.
  void distrust(MonoTime now);

 private:
  struct Floor {
    core::UnusedKeys read;
    std::string key;                   ///< the greatest
  };

  std::optional<Floor> floor_of(Epoch term, const std::string& principal, MonoTime now);

  store::Reader& reader_;
  std::mutex mutex_;
  std::map<std::string, Floor> floors_;   ///< by principal
  std::optional<MonoTime> distrusted_until_;
};

}  // namespace rota::master::api
