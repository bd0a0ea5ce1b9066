// `rota semaphore`: tokens that runs of many jobs share.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/listing.h"

namespace rota::client {
namespace {

std::string state_of(const thrift::SemaphoreInfo& info) {
  if (info.count == 0) return "closed";
  return info.held >= info.count ? "all held" : "free";
}

nlohmann::json info_json(const thrift::SemaphoreInfo& info) {
  return {{"namespace", info.space},
          {"name", info.name},
          {"version", info.version},
          {"count", info.count},
          {"held", info.held},
          {"waiting", info.waiting},
          {"state", state_of(info)},
          {"changed_at_ms", info.changed_ms},
          {"changed_by", info.changed_by}};
}

nlohmann::json full_json(const thrift::SemaphoreInfo& info) {
  nlohmann::json out = info_json(info);
  out["holders"] = nlohmann::json::array();
  for (const auto& holder : info.holders) {
    out["holders"].push_back({{"run", holder.run},
                              {"job", holder.job},
                              {"tokens", holder.tokens},
                              {"worker", holder.worker},
                              {"since_ms", holder.since_ms}});
  }
  out["lines"] = nlohmann::json::array();
  for (const auto& line : info.lines) {
    out["lines"].push_back(
        {{"run", line.run}, {"job", line.job}, {"tokens", line.tokens}, {"runs", line.runs}});
  }
  return out;
}

}  // namespace

int semaphore_set(Desk& desk, const SemaphoreArguments& arguments) {
  thrift::SemaphoreEdit edit;
  edit.__set_space(desk.space);
  edit.__set_name(arguments.name);
  edit.__set_count(arguments.count);
  const auto edited = desk.cluster.set_semaphore(edit);
  if (!edited) return complain(edited.error());
  if (desk.prints_data()) {
    print_data(desk.format, {{"name", arguments.name}, {"version", edited->version}, {"what", edited->what}});
    return kOk;
  }
  const char* const then = arguments.count == 0 ? "; closed: no run gets a token" : "";
  print_text(fmt::format("semaphore {} {}: {} token{} (version {}){}\n", printable(arguments.name),
                         edited->what, arguments.count, arguments.count == 1 ? "" : "s", edited->version,
                         then));
  return kOk;
}

int semaphore_delete(Desk& desk, const SemaphoreArguments& arguments) {
  const std::string question = fmt::format("Delete semaphore {}?", printable(arguments.name));
  if (!arguments.yes && !confirmed(desk, question)) {
    note("nothing was changed; answer y, or add --yes to do it without being asked");
    return kUsage;
  }
  const auto edited = desk.cluster.delete_semaphore(desk.space, arguments.name);
  if (!edited) return complain(edited.error());
  if (desk.prints_data()) {
    print_data(desk.format, {{"name", arguments.name}, {"version", edited->version}, {"what", "deleted"}});
    return kOk;
  }
  print_text(fmt::format("semaphore {} deleted\n", printable(arguments.name)));
  return kOk;
}

int semaphore_list(Desk& desk, const std::string& prefix) {
  const auto all = desk.cluster.list_semaphores(desk.space, prefix);
  if (!all) return complain(all.error());
  Listing list(desk, {"SEMAPHORE", "TOKENS", "HELD", "WAITING", "STATE", "CHANGED", "BY"});
  for (const auto& info : *all) {
    list.add([&info] { return info_json(info); },
             {info.name, std::to_string(info.count), std::to_string(info.held), std::to_string(info.waiting),
              state_of(info), show_time(info.changed_ms), info.changed_by});
  }
  return list.finish();
}

int semaphore_show(Desk& desk, const std::string& name) {
  const auto info = desk.cluster.get_semaphore(desk.space, name);
  if (!info) return complain(info.error());
  if (desk.prints_data()) {
    print_data(desk.format, full_json(*info));
    return kOk;
  }
  print_text(fmt::format("semaphore {}: {} of {} tokens held, {} runs wait ({}; version {} by {}, {})\n",
                         printable(info->name), info->held, info->count, info->waiting, state_of(*info),
                         info->version, printable(info->changed_by), show_time(info->changed_ms)));
  if (!info->holders.empty()) {
    Table holders({"HOLDER", "JOB", "TOKENS", "WORKER", "SINCE"});
    for (const auto& one : info->holders) {
      holders.add({std::to_string(one.run), one.job, std::to_string(one.tokens), one.worker,
                   show_time(one.since_ms)});
    }
    print_text(holders.text());
  }
  if (!info->lines.empty()) {
    Table lines({"NEXT RUN", "JOB", "TOKENS", "RUNS IN LINE"});
    for (const auto& one : info->lines) {
      lines.add({std::to_string(one.run), one.job, std::to_string(one.tokens), std::to_string(one.runs)});
    }
    print_text(lines.text());
  }
  return kOk;
}

}  // namespace rota::client
