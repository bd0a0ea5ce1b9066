// `rota notify`: who was told what, and tests of receivers.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/listing.h"

namespace rota::client {
namespace {

nlohmann::json info_json(const thrift::NotificationInfo& info) {
  nlohmann::json out = {{"id", std::to_string(info.id)},
                        {"receiver", info.receiver},
                        {"event", info.what},
                        {"text", info.text},
                        {"count", info.stands_for},
                        {"made_at_ms", info.made_ms},
                        {"state", info.state},
                        {"attempts", info.attempts},
                        {"last_error", info.last_error}};
  if (!info.job.empty()) out["namespace"] = info.space;
  if (!info.job.empty()) out["job"] = info.job;
  if (info.run != 0) out["run"] = info.run;
  if (!info.worker.empty()) out["worker"] = info.worker;
  if (info.tick_ms != 0) out["tick_ms"] = info.tick_ms;
  if (info.settled_ms != 0) out["settled_at_ms"] = info.settled_ms;
  return out;
}

/// What it is about, in one word or two.
std::string subject_of(const thrift::NotificationInfo& info) {
  if (!info.job.empty()) return info.run == 0 ? info.job : fmt::format("{} {}", info.job, info.run);
  if (!info.worker.empty()) return info.worker;
  return info.stands_for > 1 ? fmt::format("{} events", info.stands_for) : "-";
}

}  // namespace

int notify_list(Desk& desk, const NotifyArguments& arguments) {
  const auto all = desk.cluster.list_notifications(arguments.undelivered, arguments.limit);
  if (!all) return complain(all.error());
  Listing list(desk, {"MADE", "RECEIVER", "EVENT", "ABOUT", "STATE", "TRIES", "LAST ERROR", wide("SETTLED"),
                      wide("TEXT")});
  for (const auto& info : *all) {
    list.add([&info] { return info_json(info); },
             {show_time(info.made_ms), info.receiver, info.what, subject_of(info), info.state,
              std::to_string(info.attempts), info.last_error, show_time(info.settled_ms), info.text});
  }
  return list.finish();
}

int notify_test(Desk& desk, const NotifyArguments& arguments) {
  const auto answer = desk.cluster.test_receiver(arguments.receiver);
  if (!answer) return complain(answer.error());
  if (desk.prints_data()) {
    print_data(desk.format, {{"receiver", arguments.receiver}, {"answer", *answer}});
    return kOk;
  }
  print_text(
      fmt::format("receiver {} accepted it: {}\n", printable(arguments.receiver), printable(*answer)));
  return kOk;
}

}  // namespace rota::client
