// The outcome of anything that can fail: a value, or an Error that says what was tried, what came
// back, and whether trying again makes sense. Our code throws nothing; each adapter catches its
// library's exceptions in one place and turns them into an Error.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rota {

/// The kind of error. The client's exit statuses and the Thrift errors follow from it.
enum class ErrorCode {
  InvalidArgument,  ///< the caller's input is wrong; the message names place, value and remedy
  NotFound,
  AlreadyExists,
  Conflict,       ///< a stale version, or a used request key with other content
  Denied,         ///< not allowed for this principal
  NotLeader,      ///< certainly not done; ask the leader
  Unavailable,    ///< a peer or server is not reachable; certainly not done
  Overloaded,     ///< a bounded queue is full; certainly not done, retry after a pause
  TimedOut,       ///< a deadline passed while waiting
  UnknownOutcome, ///< it may or may not have been done; read the state, or repeat if that is
                  ///< idempotent
  Fenced,         ///< another epoch is in force; the caller's Term is over
  Corrupt,        ///< stored or received bytes contradict themselves
  Unsupported,
  Internal,
  LimitReached,   ///< a limit of the namespace is reached; certainly not done, it may be asked again
};

/// Whether the caller may try again: never (the input must change), later (certainly not done), or
/// unknown (it may have been done; repeat only if that is idempotent).
enum class Retry { Never, Later, Unknown };

/// The fixed lower-case name of a code, as it appears in logs and JSON ("not_found").
std::string_view name_of(ErrorCode code);

/// The default retry advice of a code.
Retry default_retry(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
  Retry retry = Retry::Never;

  Error() = default;
  Error(ErrorCode c, std::string m) : code(c), message(std::move(m)), retry(default_retry(c)) {}
  Error(ErrorCode c, std::string m, Retry r) : code(c), message(std::move(m)), retry(r) {}
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

template <>
class [[nodiscard]] Result<void> : public tl::expected<void, Error> {
 public:
  using tl::expected<void, Error>::expected;
};

/// Makes the error side of any Result: `return fail(ErrorCode::NotFound, "no job named x")`.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error(code, std::move(message)));
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace rota
