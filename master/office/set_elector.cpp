#include "master/office/set_elector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "master/office/elector_in_force.h"
#include "master/office/master_node.h"

namespace rota::master {
namespace {

constexpr int kMostTries = 10;

Result<void> read_masters(const SetElectorParts& parts, ElectorChange& change) {
  const auto names = parts.client.list(parts.paths.masters(), zk::Watch::No);
  if (!names && names.error().code == ErrorCode::NotFound) return {};  // a new cluster
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    const auto node = parts.client.get(parts.paths.masters() + "/" + name, zk::Watch::No);
    if (!node && node.error().code == ErrorCode::NotFound) continue;
    if (!node) return fail(node.error());
    if (node->stat.ephemeral_owner == 0) continue;
    const std::string id = master_in(node->data).id;
    const std::string elector = elector_in(node->data);
    auto& place = elector.empty() ? change.too_old : elector == change.to ? change.ready : change.others;
    place.push_back(id.empty() ? name : id);
  }
  return {};
}

}  // namespace

Result<ElectorChange> plan_elector(const SetElectorParts& parts, const std::string& to) {
  auto named = parts.election.elector();
  if (!named) return fail(named.error());
  ElectorChange change;
  change.from = named->empty() ? kZookeeperElector : *named;
  change.to = to;
  if (auto read = read_masters(parts, change); !read) return fail(read.error());
  if (change.too_old.empty() || to == kZookeeperElector) return change;
  return fail(ErrorCode::Conflict,
              fmt::format("{} run a version that knows ZooKeeper's elector alone, and would take office "
                          "beside the others; nothing was changed; upgrade them first",
                          fmt::join(change.too_old, ", ")));
}

std::string words_before(const ElectorChange& change) {
  std::string text = fmt::format("The elector changes from '{}' to '{}'. The leader leaves office at once; "
                                 "no job is killed, and ticks that become due meanwhile are made up for.\n",
                                 change.from, change.to);
  if (!change.ready.empty()) {
    text += fmt::format("Configured for '{}', and takes office next: {}.\n", change.to,
                        fmt::join(change.ready, ", "));
  } else {
    text += fmt::format("No registered master is configured for '{}': NOBODY LEADS until one is started.\n",
                        change.to);
  }
  if (!change.others.empty()) {
    text += fmt::format("Stands by until it is configured for '{}' and restarted: {}.\n", change.to,
                        fmt::join(change.others, ", "));
  }
  return text;
}

std::string words_after(const ElectorChange& change) {
  if (change.ready.empty()) {
    return fmt::format("the elector in force is '{0}'; now start masters with `elector: {0}`: until then "
                       "nobody leads",
                       change.to);
  }
  return fmt::format("the elector in force is '{}'; takes office within seconds: {}; see rota cluster status",
                     change.to, fmt::join(change.ready, " or "));
}

Result<void> set_elector(const SetElectorParts& parts, const Candidate& candidate, const std::string& to) {
  Result<void> done = fail(ErrorCode::Conflict, "not tried");
  for (int left = kMostTries; left > 0; --left) {
    const auto office = enter_office(parts.client, parts.paths, parts.office, candidate);
    done = office ? parts.election.set_elector(office->epoch, to) : Result<void>(fail(office.error()));
    const bool was_overtaken = !done && (office ? done.error().code == ErrorCode::Fenced
                                                : done.error().code == ErrorCode::Conflict);
    if (!was_overtaken) break;
  }
  return done;
}

}  // namespace rota::master
