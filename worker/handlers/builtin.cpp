#include "worker/handlers/builtin.h"

#include <charconv>

#include "worker/handlers/http_handler.h"

namespace rota::worker::handlers {

namespace {

Result<void> noop(sdk::Context&) { return {}; }

Result<void> sleep_handler(sdk::Context& context) {
  const std::string text = context.parameter("for_ms", "1000");
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (error != std::errc{} || end != text.data() + text.size() || ms < 0 || ms > 86'400'000) {
    return fail(ErrorCode::InvalidArgument, "for_ms is '" + text + "': 0 to 86400000");
  }
  if (context.wait_cancelled(Millis{ms})) return fail(ErrorCode::TimedOut, "told to stop");
  return {};
}

}  // namespace

Result<void> add_builtin(sdk::Registry& registry) {
  if (auto done = registry.add("noop", noop); !done) return done;
  if (auto done = registry.add("http", make_http_handler(make_http_client())); !done) return done;
  return registry.add("sleep", sleep_handler);
}

}  // namespace rota::worker::handlers
