#include "master/dispatch/dispatcher.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "common/base/log.h"
#include "master/dispatch/lanes.h"
#include "master/dispatch/worker_link.h"

namespace rota::master::dispatch {
namespace {

/// Hellos are repeated to workers that are cut off; half of the threads stay free for the others.
std::size_t most_hellos(int threads) { return static_cast<std::size_t>(std::max(1, threads / 2)); }

}  // namespace

class Dispatcher::Impl {
 public:
  Impl(store::Reader& reader, const DispatcherOptions& options)
      : link_(reader, options), lanes_(options.max_queued, most_hellos(options.threads)) {
    for (int i = 0; i < options.threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }
  ~Impl() { stop(); }

  void begin_term(TermFace face) {
    link_.begin_term();
    std::unique_lock lock(face_mutex_);
    face_ = std::move(face);
  }

  void end_term() {
    {
      std::unique_lock lock(face_mutex_);
      face_.reset();
    }
    dropped_ += static_cast<std::int64_t>(lanes_.clear());
  }

  void send(Epoch epoch, core::Send message) {
    if (!face_of(epoch)) {
      ++dropped_;
      return;
    }
    if (lanes_.push(epoch, std::move(message))) return;
    refuse(epoch, std::get<core::SendDispatch>(message), "too many attempts wait to be sent");
  }

  DispatchCounters counters() const {
    return {calls_, attempts_sent_, old_epoch_, unknown_, dropped_, works_lost_};
  }

  void stop() {
    for (std::jthread& thread : threads_) thread.request_stop();
    lanes_.wake_all();
    for (std::jthread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  std::optional<TermFace> face_of(Epoch epoch) const {
    std::shared_lock lock(face_mutex_);
    if (!face_ || face_->epoch != epoch) return std::nullopt;
    return face_;
  }

  // Under the lock, so that end_term() can promise that no more calls come.
  void post(Epoch epoch, core::Event event) {
    std::shared_lock lock(face_mutex_);
    if (!face_ || face_->epoch != epoch) {
      ++dropped_;
      return;
    }
    face_->port(std::move(event));
  }

  void work(const std::stop_token& stop) {
    while (auto next = lanes_.take(stop)) {
      if (const auto face = face_of(next->epoch)) {
        carry(*face, *next);
      } else {
        dropped_ += static_cast<std::int64_t>(next->messages.size());
      }
      lanes_.done(next->worker);
    }
  }

  void carry(const TermFace& face, const LaneWork& work) {
    LinkResult result;
    if (const auto* hello = std::get_if<core::SendHello>(&work.messages.front())) {
      result = link_.hello(face, *hello);
    } else if (const auto* cancel = std::get_if<core::SendCancel>(&work.messages.front())) {
      result = link_.cancel(face, *cancel);
    } else if (const auto* drain = std::get_if<core::SendDrain>(&work.messages.front())) {
      result = link_.drain(face, *drain);
    } else {
      result = link_.dispatch(face, dispatches_of(work));
    }
    calls_ += result.calls;
    unknown_ += result.unknown;
    old_epoch_ += result.old_epoch;
    works_lost_ += result.works_lost;
    for (core::Event& event : result.events) post(face.epoch, std::move(event));
    if (!result.unreachable) return;
    for (const auto& left : lanes_.pop_dispatches(work.worker)) {
      refuse(face.epoch, left, "the worker is not reachable");
    }
  }

  std::vector<core::SendDispatch> dispatches_of(const LaneWork& work) {
    std::vector<core::SendDispatch> out;
    out.reserve(work.messages.size());
    for (const core::Send& message : work.messages) {
      out.push_back(std::get<core::SendDispatch>(message));
      attempts_sent_ += static_cast<std::int64_t>(out.back().items.size());
    }
    return out;
  }

  // Surely not sent. It is answered as Unknown anyway, so that the core asks the worker before it decides.
  void refuse(Epoch epoch, const core::SendDispatch& message, const char* why) {
    core::DispatchAnswered told;
    told.worker = message.worker;
    for (const core::DispatchItem& item : message.items) {
      told.verdicts.push_back({item.attempt, core::DispatchVerdict::Kind::Unknown,
                               model::Refusal::None, why});
    }
    unknown_ += static_cast<std::int64_t>(told.verdicts.size());
    post(epoch, std::move(told));
  }

  WorkerLink link_;
  Lanes lanes_;
  mutable std::shared_mutex face_mutex_;
  std::optional<TermFace> face_;
  std::atomic<std::int64_t> calls_{0};
  std::atomic<std::int64_t> attempts_sent_{0};
  std::atomic<std::int64_t> old_epoch_{0};
  std::atomic<std::int64_t> unknown_{0};
  std::atomic<std::int64_t> works_lost_{0};
  std::atomic<std::int64_t> dropped_{0};
  std::vector<std::jthread> threads_;
};

Dispatcher::Dispatcher(store::Reader& reader, DispatcherOptions options)
    : impl_(std::make_unique<Impl>(reader, options)) {}
Dispatcher::~Dispatcher() = default;
void Dispatcher::begin_term(TermFace face) { impl_->begin_term(std::move(face)); }
void Dispatcher::end_term() { impl_->end_term(); }
void Dispatcher::send(Epoch epoch, core::Send message) { impl_->send(epoch, std::move(message)); }
DispatchCounters Dispatcher::counters() const { return impl_->counters(); }
void Dispatcher::stop() { impl_->stop(); }

}  // namespace rota::master::dispatch
