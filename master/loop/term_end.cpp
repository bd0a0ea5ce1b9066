#include "master/loop/term_end.h"

namespace rota::master::loop {

void refuse_unhandled(const std::vector<core::Event>& events, const ReplyTo& reply) {
  for (const core::Event& event : events) {
    const Token token = token_of(event);
    if (!token) continue;
    reply(token, Error(ErrorCode::NotLeader, "the Term ended before this was looked at"));
  }
}

void refuse_unstored(const std::vector<core::Reply>& replies, bool maybe_stored,
                     const ReplyTo& reply) {
  for (const core::Reply& open : replies) {
    const bool asks_nothing = std::holds_alternative<core::Renewed>(open.body);
    if (maybe_stored && !asks_nothing) {
      reply(open.token, Error(ErrorCode::UnknownOutcome,
                              "the Term ended while the database's answer was open"));
    } else {
      reply(open.token, Error(ErrorCode::NotLeader, "the Term ended before this was stored"));
    }
  }
}

std::string_view name_of(TermEnd::Why why) {
  switch (why) {
    case TermEnd::Why::Fenced:
      return "fenced";
    case TermEnd::Why::StoreLost:
      return "store_lost";
    case TermEnd::Why::Contradicted:
      return "contradicted";
    case TermEnd::Why::HigherEpoch:
      return "higher_epoch";
    case TermEnd::Why::Resigned:
      return "resigned";
  }
  return "resigned";
}

}  // namespace rota::master::loop
