#include "master/api/reply_table.h"

#include "common/base/check.h"

namespace rota::master::api {

Result<Token> ReplyTable::open() {
  std::scoped_lock lock(mutex_);
  if (closed_) return fail(ErrorCode::Unavailable, "this master is stopping");
  if (slots_.size() >= most_open_) {
    return fail(ErrorCode::Overloaded, "too many requests wait for an answer; repeat after a pause");
  }
  if (is_stalled()) {
    return fail(ErrorCode::Overloaded,
                "requests wait for the leader's database and none was answered for a second; this one "
                "was not accepted, repeat after a pause");
  }
  const Token token{++last_token_};
  slots_.emplace(token, std::make_shared<Slot>());
  return token;
}

std::shared_ptr<ReplyTable::Slot> ReplyTable::begin_wait(Token token, MonoTime now) {
  std::scoped_lock lock(mutex_);
  const auto found = slots_.find(token);
  CHECK_OR_DIE(found != slots_.end(), "a token is waited for once, after open()");
  if (waits_++ == 0) moved_ = now;
  return found->second;
}

core::ReplyBody ReplyTable::wait(Token token, MonoTime deadline) {
  const MonoTime begun = BootClock::now();
  const std::shared_ptr<Slot> slot = begin_wait(token, begun);
  std::unique_lock lock(slot->mutex);
  const auto is_over = [&] { return slot->body.has_value() || slot->is_closed; };
  if (deadline > begun) slot->changed.wait_for(lock, deadline - begun, is_over);
  --waits_;
  lock.unlock();
  forget(token);  // a reply that comes now finds the slot no more, or has put its body there before
  lock.lock();
  if (slot->body) return std::move(*slot->body);
  return Error(ErrorCode::UnknownOutcome,
               slot->is_closed ? "this master stopped before it had an answer; it may or may not be done"
                               : "no answer within the deadline; it may or may not be done");
}

int ReplyTable::waits() const { return waits_; }

bool ReplyTable::is_stalled() const {
  return waits_ >= kManyWaits && BootClock::now() - moved_ > stall_;
}

void ReplyTable::forget(Token token) {
  std::scoped_lock lock(mutex_);
  slots_.erase(token);
}

void ReplyTable::reply(Token token, core::ReplyBody body) {
  std::shared_ptr<Slot> slot;
  {
    std::scoped_lock lock(mutex_);
    const auto found = slots_.find(token);
    if (found == slots_.end()) return;
    slot = found->second;
    moved_ = BootClock::now();
  }
  {
    std::scoped_lock lock(slot->mutex);
    if (slot->body) return;
    slot->body = std::move(body);
  }
  slot->changed.notify_one();
}

void ReplyTable::close() {
  std::scoped_lock lock(mutex_);
  closed_ = true;
  for (auto& [token, slot] : slots_) {
    std::scoped_lock of_slot(slot->mutex);
    slot->is_closed = true;
    slot->changed.notify_all();
  }
}

std::size_t ReplyTable::open_count() const {
  std::scoped_lock lock(mutex_);
  return slots_.size();
}

}  // namespace rota::master::api
