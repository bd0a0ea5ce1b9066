#include "worker/sdk/registry.h"

#include <utility>

namespace rota::sdk {

namespace {
class FunctionHandler final : public Handler {
 public:
  explicit FunctionHandler(std::function<Result<void>(Context&)> function)
      : function_(std::move(function)) {}
  Result<void> run(Context& context) override { return function_(context); }

 private:
  const std::function<Result<void>(Context&)> function_;
};
}  // namespace

Result<void> Registry::add(const std::string& name, std::unique_ptr<Handler> handler) {
  if (name.empty() || name.size() > 100 || name == "command") {
    return fail(ErrorCode::InvalidArgument,
                "handler name '" + name + "': 1 to 100 bytes, and not 'command'");
  }
  if (!handlers_.emplace(name, std::move(handler)).second) {
    return fail(ErrorCode::AlreadyExists, "handler '" + name + "' is registered already");
  }
  return {};
}

Result<void> Registry::add(const std::string& name,
                           std::function<Result<void>(Context&)> function) {
  return add(name, std::make_unique<FunctionHandler>(std::move(function)));
}

Handler* Registry::find(const std::string& name) const {
  const auto found = handlers_.find(name);
  return found == handlers_.end() ? nullptr : found->second.get();
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> all;
  for (const auto& [name, handler] : handlers_) all.push_back(name);
  return all;
}

}  // namespace rota::sdk
