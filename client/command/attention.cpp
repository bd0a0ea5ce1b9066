// `rota attention`: what needs somebody now.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/listing.h"
#include "client/command/show_json.h"

namespace rota::client {
namespace {

nlohmann::json item_json(const thrift::AttentionItem& item) {
  nlohmann::json out{{"kind", item.kind},
                     {"level", item.level},
                     {"subject", item.subject},
                     {"sentence", item.sentence},
                     {"command", item.command}};
  if (item.__isset.since_ms) out["since_ms"] = item.since_ms;
  if (item.__isset.count) out["count"] = item.count;
  if (item.__isset.run) out["run"] = item.run;
  return out;
}

void print_item(const thrift::AttentionItem& item) {
  const std::string subject = item.subject.empty() ? "" : " " + printable(item.subject);
  const std::string since = item.__isset.since_ms ? " since " + show_time(item.since_ms) : "";
  print_text(fmt::format("{} {}{}{}\n    {}\n", item.level, item.kind, subject, since,
                         printable(item.sentence)));
  if (!item.command.empty()) print_text("    $ " + printable(item.command) + "\n");
}

}  // namespace

int attention(Desk& desk, const AttentionArguments& arguments) {
  auto since = since_from(arguments.since);
  if (!since) return complain(since.error());
  thrift::AttentionRequest request;
  request.__set_space(desk.space);
  request.__set_since_ms(to_ms(*since));
  const auto report = desk.cluster.attention(request);
  if (!report) return complain(report.error());
  const auto is_urgent = [](const auto& item) { return item.level != "info"; };
  const bool is_calm = std::ranges::none_of(report->items, is_urgent);
  // A command beside the sentence it helps reads better than a column; -o wide and --where make it a table.
  if (desk.format == Format::Table && desk.where.empty()) {
    for (const auto& item : report->items) print_item(item);
    if (report->items.empty()) print_text("nothing needs attention\n");
    return arguments.check && !is_calm ? kFailed : kOk;
  }
  Listing list(desk, {"LEVEL", "KIND", "ABOUT", "SINCE", "WHAT", wide("COMMAND")});
  for (const auto& item : report->items) {
    list.add([&item] { return item_json(item); },
             {item.level, item.kind, item.subject, show_time(item.__isset.since_ms ? item.since_ms : 0),
              item.sentence, item.command});
  }
  if (const int status = list.finish(); status != kOk) return status;
  return arguments.check && !is_calm ? kFailed : kOk;
}

}  // namespace rota::client
