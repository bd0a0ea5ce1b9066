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

/// "No leader" is remembered too, or every request during a takeover would become a look-up.
constexpr Millis kNoLeaderAge{20};

std::vector<std::string> candidates_in_order(const std::vector<std::string>& names) {
  std::vector<std::pair<std::int32_t, std::string>> found;
  for (const auto& name : names) {
    if (const auto sequence = candidate_sequence(name)) found.emplace_back(*sequence, name);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return sequence_before(a.first, b.first);
  });
  std::vector<std::string> ordered;
  ordered.reserve(found.size());
  for (auto& [sequence, name] : found) ordered.push_back(std::move(name));
  return ordered;
}

}  // namespace

Result<LeaderHint> find_leader(Client& client, const Paths& paths) {
  const auto names = client.list(paths.election(), Watch::No);
  if (!names) {
    if (names.error().code != ErrorCode::NotFound) return fail(names.error());
    return fail(Error(ErrorCode::NotFound, "no master has ever started in " + paths.root(),
                      Retry::Later));
  }
  std::vector<std::string> nodes;
  for (const auto& name : candidates_in_order(*names)) {
    nodes.push_back(paths.election() + "/" + name);
  }
  for (const auto& node : client.get_many(nodes, Watch::No)) {
    if (!node) {
      if (node.error().code == ErrorCode::NotFound) continue;
      return fail(node.error());
    }
    if (auto hint = hint_in(node->data)) return hint;
  }
  return fail(Error(ErrorCode::NotFound,
                    nodes.empty() ? "no master stands for election" : "a master is taking office",
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
