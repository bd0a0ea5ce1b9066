#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "common/base/duration_text.h"

namespace rota::client {

Result<std::map<std::string, std::string>> pairs_from(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> pairs;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("'{}' is not of the form name=value", printable(text)));
    }
    pairs[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return pairs;
}

namespace {

Result<thrift::SubmitItem> item_of(const Desk& desk, const SubmitArguments& arguments) {
  auto parameters = pairs_from(arguments.parameters);
  if (!parameters) return fail(parameters.error());
  auto environment = pairs_from(arguments.environment);
  if (!environment) return fail(environment.error());
  thrift::SubmitItem item;
  item.definition = command_definition(arguments.command);
  item.definition.space = desk.space;
  item.definition.name = arguments.name;
  item.definition.work.handler = arguments.handler;
  item.definition.work.environment = *environment;
  item.definition.rules.pool = arguments.pool;
  item.definition.rules.retry_rule.count = arguments.retries;
  if (!arguments.worker.empty()) {
    item.definition.rules.route = "named";
    item.definition.rules.worker = arguments.worker;
  }
  if (!arguments.timeout.empty()) {
    auto timeout = parse_duration(arguments.timeout);
    if (!timeout) {
      return fail(ErrorCode::InvalidArgument, "--timeout: " + timeout.error().message);
    }
    item.definition.rules.timeout_ms = timeout->count();
  }
  item.parameters = *parameters;
  item.request_key = arguments.key;
  return item;
}

}  // namespace

int submit(Desk& desk, const SubmitArguments& arguments) {
  if (arguments.command.empty() && arguments.handler == "command") {
    return complain(Error(ErrorCode::InvalidArgument,
                          "a command is missing; give it after --, as in: rota submit -- echo hello"));
  }
  auto item = item_of(desk, arguments);
  if (!item) return complain(item.error());
  auto at_most = wait_limit_of(arguments.wait_at_most);
  if (!at_most) return complain(at_most.error());
  auto result = desk.cluster.submit(std::move(*item));
  if (!result) return complain(result.error());
  const bool waits = arguments.wait || arguments.follow || !arguments.wait_at_most.empty();
  if (desk.prints_data() && !waits) {
    print_data(desk.format, {{"id", std::to_string(result->run)}, {"repeated", result->repeated}});
  } else if (!waits) {
    print_text(fmt::format("{}\n", result->run));
  } else {
    note(fmt::format("run {}{}", result->run, result->repeated ? " (submitted before)" : ""));
  }
  if (!waits) return kOk;
  const int status = await_run(desk, result->run, arguments.follow, *at_most);
  if (desk.prints_data() && !arguments.follow) {
    run_show(desk, std::to_string(result->run));
  }
  return status;
}

}  // namespace rota::client
