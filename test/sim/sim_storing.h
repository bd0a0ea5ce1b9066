// A batch that is on its way to the simulated database while its leader decides the next one.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "master/loop/storing.h"

namespace rota::sim {

class World;

/// The database has the rows of the batch a moment later, then its COMMIT, and the leader gets the answer another
/// moment later. Meanwhile the leader may prepare the next batch, freeze, crash, or be replaced. Thread: one.
class SimStoring final : public master::loop::Storing {
 public:
  /// `freeze`: the leader freezes inside its transaction. `news`: rows are written, or a result is here.
  SimStoring(World& world, std::function<void(Millis)> freeze, std::function<void()> news)
      : world_(world), freeze_(std::move(freeze)), news_(std::move(news)) {}
  SimStoring(const SimStoring&) = delete;
  SimStoring& operator=(const SimStoring&) = delete;
  ~SimStoring() override { forget(); }

  void begin(Epoch epoch, const master::core::Changes& changes,
             std::unique_ptr<master::store::PreparedRows> rows) override;
  bool has_written() override { return flight_ && flight_->is_written; }
  std::unique_ptr<master::store::PreparedRows> prepare(const master::core::Changes& changes) override;
  std::optional<master::store::ApplyResult> receive() override;
  void wait(Micros at_most, std::stop_token stop) override;

  /// The leader dies: the database may have got the batch, and nobody hears of it.
  void crash();

 private:
  struct Flight {
    Epoch epoch;
    const master::core::Changes* changes = nullptr;
    bool is_written = false;              ///< only its COMMIT is missing
    bool is_over = false;                 ///< the database got it, or never will
    bool is_forgotten = false;            ///< nobody waits for the answer
  };

  void write(const std::shared_ptr<Flight>& flight);
  master::store::ApplyResult apply(Flight& flight);
  void answer(const std::shared_ptr<Flight>& flight, master::store::ApplyResult result);
  void forget();

  World& world_;
  const std::function<void(Millis)> freeze_;
  const std::function<void()> news_;
  std::shared_ptr<Flight> flight_;
  std::optional<master::store::ApplyResult> result_;
  bool has_prepared_ = false;             ///< a batch that was not begun yet
};

}  // namespace rota::sim
