#include "common/zk/leader_lookup.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/zk/candidate_name.h"

namespace rota::zk {

using nlohmann::json;

std::string candidate_data(const std::string& master_id, const LeaderHint* hint) {
  json data{{"id", master_id}};
  if (hint != nullptr) {
    data["epoch"] = hint->epoch.value;
    data["host"] = hint->host;
    data["port"] = hint->port;
  }
  return data.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<LeaderHint> hint_in(const std::string& data) {
  const json parsed = json::parse(data, nullptr, false);
  const auto bad = [] { return fail(ErrorCode::NotFound, "this candidate is not in office"); };
  if (!parsed.is_object()) return bad();
  const auto epoch = parsed.find("epoch");
  const auto host = parsed.find("host");
  const auto port = parsed.find("port");
  if (epoch == parsed.end() || host == parsed.end() || port == parsed.end()) return bad();
  if (!epoch->is_number_integer() || !host->is_string()) return bad();
  if (!port->is_number_unsigned()) return bad();
  const auto number = port->get<std::uint64_t>();
  if (number == 0 || number > 65535) return bad();
  return LeaderHint{Epoch{epoch->get<std::int64_t>()}, host->get<std::string>(),
                    static_cast<std::uint16_t>(number)};
}

namespace {

/// "No leader" is cached too; otherwise every request during a takeover would cause a look-up.
constexpr Millis kNoLeaderAge{20};

struct Standing {
  Candidate node;
  std::string data;
};

/// The candidates that may lead, in their order.
Result<std::vector<Standing>> candidates_in_order(Client& client, const std::string& folder,
                                                  const std::vector<std::string>& names) {
  std::vector<std::string> mine, paths;
  for (const auto& name : names) {
    if (!candidate_sequence(name)) continue;
    mine.push_back(name);
    paths.push_back(folder + "/" + name);
  }
  auto nodes = client.get_many(paths, Watch::No);
  std::vector<Standing> standing;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i] && nodes[i].error().code != ErrorCode::NotFound) return fail(nodes[i].error());
    if (!nodes[i]) continue;
    const NodeStat& stat = nodes[i]->stat;
    Standing one{{mine[i], stat.ephemeral_owner, stat.created_zxid}, std::move(nodes[i]->data)};
    if (is_candidate(one.node)) standing.push_back(std::move(one));
  }
  std::sort(standing.begin(), standing.end(),
            [](const Standing& a, const Standing& b) { return stands_before(a.node, b.node); });
  return standing;
}

}  // namespace

Result<LeaderHint> find_leader(Client& client, const Paths& paths) {
  const auto names = client.list(paths.election(), Watch::No);
  if (!names) {
    if (names.error().code != ErrorCode::NotFound) return fail(names.error());
    return fail(Error(ErrorCode::NotFound, "no master has ever started in " + paths.root(),
                      Retry::Later));
  }
  const auto standing = candidates_in_order(client, paths.election(), *names);
  if (!standing) return fail(standing.error());
  for (const Standing& candidate : *standing) {
    if (auto hint = hint_in(candidate.data)) return hint;
  }
  return fail(Error(ErrorCode::NotFound,
                    standing->empty() ? "no master stands for election" : "a master is taking office",
                    Retry::Later));
}

LeaderLookup::LeaderLookup(Session& session, Paths paths, Millis max_age)
    : session_(session), paths_(std::move(paths)), max_age_(max_age) {}

Result<LeaderHint> LeaderLookup::find() {
  {
    std::scoped_lock lock(mutex_);
    const Millis age = last_ && *last_ ? max_age_ : std::min(max_age_, kNoLeaderAge);
    if (last_ && BootClock::now() - read_at_ < age) return *last_;
  }
  const auto client = session_.client();
  if (client == nullptr || !session_.is_connected()) {
    return fail(ErrorCode::Unavailable, "no session with ZooKeeper to look up the leader");
  }
  auto found = find_leader(*client, paths_);
  if (found || found.error().code == ErrorCode::NotFound) {
    std::scoped_lock lock(mutex_);
    last_ = found;
    read_at_ = BootClock::now();
  }
  return found;
}

void LeaderLookup::forget() {
  std::scoped_lock lock(mutex_);
  last_.reset();
}

}  // namespace rota::zk
