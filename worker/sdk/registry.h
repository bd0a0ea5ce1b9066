// The handlers of one worker, by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "worker/sdk/handler.h"

namespace rota::sdk {

/// Filled before the worker starts, constant after. Owner: main.
class Registry {
 public:
  /// AlreadyExists when the name is in use; InvalidArgument for an empty name, one longer than 100
  /// bytes, or "command", which is the worker's own.
  Result<void> add(const std::string& name, std::unique_ptr<Handler> handler);
  /// The same for a function.
  Result<void> add(const std::string& name, std::function<Result<void>(Context&)> function);

  /// Null when there is none.
  Handler* find(const std::string& name) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, std::unique_ptr<Handler>> handlers_;
};

}  // namespace rota::sdk
