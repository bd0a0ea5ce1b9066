#include "client/asked_masters.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/duration_text.h"

namespace rota::client {
namespace {

constexpr std::string_view kMayBeDone = "; it may or may not have been done";

Error of_a_read(Error error) {
  if (error.code == ErrorCode::UnknownOutcome) error.code = ErrorCode::Unavailable;
  if (error.message.ends_with(kMayBeDone)) error.message.resize(error.message.size() - kMayBeDone.size());
  return error;
}

bool is_refused(const Error& error) { return error.message.ends_with("Connection refused"); }

}  // namespace

void AskedMasters::take(const std::string& who, const rpc::CallError& failure) {
  last_ = is_read_ ? of_a_read(failure.error) : failure.error;
  may_be_done_ = may_be_done_ || last_.code == ErrorCode::UnknownOutcome;
  if (failure.answered) {
    silent_.erase(who);
    answer_ = Answer{who, failure};
    answer_->failure.error = last_;
  } else {
    silent_[who] = last_;
    if (answer_ && answer_->who == who) answer_.reset();
  }
}

std::string AskedMasters::text_of_answer() const {
  const std::string& leader = answer_->failure.leader;
  if (!leader.empty()) return fmt::format("{} says that {} leads", answer_->who, leader);
  return fmt::format("{} (said by {})", answer_->failure.error.message, answer_->who);
}

/// Each master with its own error. That the request may have been done is said once, at the end.
std::string AskedMasters::text_of_silent() const {
  std::string out;
  for (const auto& [who, error] : silent_) out += (out.empty() ? "" : "; ") + of_a_read(error).message;
  return out;
}

Error AskedMasters::last_word(Millis tried_for) const {
  Error out = answer_ ? answer_->failure.error : last_;
  const std::string silent = text_of_silent();
  if (answer_) {
    out.message = text_of_answer() + (silent.empty() ? "" : "; " + silent);
  } else {
    out.message = silent;
    const auto refused = [](const auto& one) { return is_refused(one.second); };
    if (std::ranges::all_of(silent_, refused)) {
      out.message += fmt::format(
          " (tried for {}; does a master run there? --masters or ROTA_MASTERS says where to look)",
          format_duration(tried_for));
    }
  }
  if (!may_be_done_) return out;
  if (out.code != ErrorCode::UnknownOutcome) {
    out.code = ErrorCode::UnknownOutcome;
    out.message += "; a try before got no answer";
  }
  if (out.message.find("may or may not") == std::string::npos) out.message += kMayBeDone;
  out.retry = Retry::Unknown;
  return out;
}

}  // namespace rota::client
