// Freezes: ticks do not fire for a while, and are made up for at its end.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/listing.h"
#include "client/command/show_json.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

std::string where(const std::string& space) {
  return space.empty() ? "all namespaces" : "namespace " + printable(space);
}

/// A moment, or a duration ahead.
Result<WallTime> until_from(const std::string& text) {
  if (const auto moment = parse_moment(text)) return *moment;
  const auto ahead = parse_duration(text);
  if (ahead) return std::chrono::floor<Millis>(std::chrono::system_clock::now()) + *ahead;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("--until takes a moment (2026-03-29T02:30:00Z) or a duration from now (2h), "
                          "not \"{}\"", printable(text)));
}

int show_freeze(Desk& desk, const thrift::FreezeInfo& freeze, const std::string& sentence) {
  if (desk.prints_data()) {
    print_data(desk.format, to_json(freeze));
  } else {
    print_text(sentence + "\n");
  }
  return kOk;
}

bool may_go_on(const Desk& desk, const FreezeArguments& arguments, const std::string& question) {
  if (arguments.yes || confirmed(desk, question)) return true;
  note("nothing was changed; answer y, or add --yes to do it without being asked");
  return false;
}

}  // namespace

std::string freeze_line(const thrift::FreezeInfo& freeze) {
  const std::string why = freeze.why.empty() ? "" : ": " + printable(freeze.why);
  if (freeze.state == "making_up") {
    return fmt::format("the freeze of {} is over since {}, and is being made up for (freeze {})",
                       where(freeze.space), show_time(freeze.until_ms), freeze.id);
  }
  return fmt::format("ticks of {} are frozen until {} by {}{} (freeze {})", where(freeze.space),
                     show_time(freeze.until_ms), printable(freeze.principal), why, freeze.id);
}

int freeze_begin(Desk& desk, const FreezeArguments& arguments) {
  const auto until = until_from(arguments.until);
  if (!until) return complain(until.error());
  const std::string question = fmt::format("Freeze {} until {}? Ticks do not fire until then.",
                                           where(arguments.space), show_time(to_ms(*until)));
  if (!may_go_on(desk, arguments, question)) return kUsage;
  const auto freeze = desk.cluster.begin_freeze(arguments.space, *until, arguments.why);
  if (!freeze) return complain(freeze.error());
  return show_freeze(desk, *freeze, freeze_line(*freeze));
}

int freeze_end(Desk& desk, const FreezeArguments& arguments) {
  const std::string question = fmt::format(
      "End the freeze of {}? Frozen ticks are made up for as each job's `late` says.",
      where(arguments.space));
  if (!may_go_on(desk, arguments, question)) return kUsage;
  const auto freeze = desk.cluster.end_freeze(arguments.space);
  if (!freeze) return complain(freeze.error());
  return show_freeze(desk, *freeze, fmt::format("the freeze of {} is over (freeze {})", where(freeze->space),
                                                freeze->id));
}

int freeze_list(Desk& desk) {
  const auto freezes = desk.cluster.list_freezes();
  if (!freezes) return complain(freezes.error());
  Listing list(desk, {"FREEZE", "NAMESPACE", "FROM", "UNTIL", "STATE", "BY", "WHY"});
  for (const auto& freeze : *freezes) {
    list.add([&freeze] { return to_json(freeze); },
             {std::to_string(freeze.id), freeze.space.empty() ? "(all)" : freeze.space,
              show_time(freeze.from_ms), show_time(freeze.until_ms), freeze.state, freeze.principal,
              freeze.why});
  }
  return list.finish();
}

}  // namespace rota::client
