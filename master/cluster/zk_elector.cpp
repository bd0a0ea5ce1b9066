#include "master/cluster/zk_elector.h"

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/zk/candidate_name.h"
#include "common/zk/protected_create.h"

namespace rota::master::cluster {

namespace {
constexpr std::string_view kChannel = "election";
constexpr Millis kRetry{100};
/// After this time a node that a tool has copied, or that an operator has removed, is noticed.
constexpr Millis kLookAgain{10'000};
/// How many predecessors may vanish one after the other within one step, before others get a turn.
constexpr int kLooks = 16;
}  // namespace

ZkElector::ZkElector(zk::Session& session, zk::Paths paths, std::string master_id,
                     ElectorObserver& observer, bool is_post)
    : session_(session),
      paths_(std::move(paths)),
      master_id_(std::move(master_id)),
      is_post_(is_post),
      observer_(observer),
      lookup_(session_, paths_) {
  session_.attach(*this);
}

ZkElector::~ZkElector() { session_.detach(*this); }

void ZkElector::campaign() {
  change([this] { eligible_ = true; });
}

void ZkElector::resign() {
  change([this] { eligible_ = false; });
}

void ZkElector::publish(const LeaderHint& hint) {
  change([this, hint] { hint_ = hint; });
}

void ZkElector::withdraw_hint() {
  change([this] { hint_.reset(); });
}

void ZkElector::change(std::function<void()> what) {
  session_.tasks().post(this, [this, what = std::move(what)] {
    what();
    if (const auto client = session_.client()) step(*client);
  });
}

void ZkElector::session_began(zk::Client& client) { step(client); }

void ZkElector::session_resumed(zk::Client& client) {
  may_have_ghosts_ = true;
  step(client);
}

void ZkElector::session_ended() {
  lose_candidacy("the session ended");
  tell_candidacy({});
}

void ZkElector::watch_fired(zk::Client& client, const zk::Event& event) {
  const bool about_us = !own_.empty() && event.path == path_of(own_);
  const bool about_predecessor = !predecessor_.empty() && event.path == path_of(predecessor_);
  if (about_us || about_predecessor) step(client);
}

void ZkElector::step(zk::Client& client) {
  const auto done = eligible_ ? stand(client) : leave(client);
  tell_candidacy(done);
  if (done) return look_again_later();
  if (client.state() != zk::SessionState::Connected) return;
  log_debug(kChannel, "election waits", {{"error", done.error().message}});
  retry_later();
}

Result<void> ZkElector::stand(zk::Client& client) {
  for (int i = 0; i < kLooks; ++i) {
    if (auto joined = own_.empty() ? join(client) : Result<void>{}; !joined) return joined;
    const auto settled = look(client);
    if (!settled) return fail(settled.error());
    if (*settled) return {};
  }
  return fail(ErrorCode::Unavailable, "the candidates change too fast");
}

/// Makes our node. After an unclear answer it first looks for the node with the kept tag: otherwise that node
/// would stay there as a ghost.
Result<void> ZkElector::join(zk::Client& client) {
  if (!tag_.empty()) {
    auto adopted = zk::adopt_tagged(client, paths_.election(), prefix(), tag_);
    if (adopted) {
      own_ = std::move(*adopted);
      written_.clear();
      return {};
    }
    if (adopted.error().code != ErrorCode::NotFound) return fail(adopted.error());
  }
  if (tag_.empty()) tag_ = random_hex(zk::kTagLength / 2);
  const std::string data = wanted_data();
  auto made = zk::protected_create(client, paths_.election(), prefix(), tag_, data);
  if (!made && made.error().code == ErrorCode::NotFound) {
    if (auto folders = zk::ensure_cluster(client, paths_); !folders) return folders;
    made = zk::protected_create(client, paths_.election(), prefix(), tag_, data);
  }
  if (!made) return fail(made.error());
  own_ = std::move(*made);
  written_.clear();  // it may stand from an earlier, unclear try: written once more if it differs
  if (!is_post_) log_info(kChannel, "stands for election", {{"candidate", own_}});
  return {};
}

/// One look at our own node and the listing. True: settled, wait for a watch; false: look again.
Result<bool> ZkElector::look(zk::Client& client) {
  const auto ours = still_ours(client);
  if (!ours) return fail(ours.error());
  if (!*ours) {
    lose_candidacy("the candidate's node is gone");
    return false;
  }
  if (auto written = write_data(client); !written) return fail(written.error());
  const auto candidates = read_candidates(client);
  if (!candidates) return fail(candidates.error());
  const ElectionDecision decision = decide_election(*candidates, own_);
  if (auto cleared = clear_up(client, decision); !cleared) return fail(cleared.error());
  switch (decision.step) {
    case ElectionStep::Rejoin: lose_candidacy("the candidate's node is gone"); return false;
    case ElectionStep::Lead: win(); return true;
    case ElectionStep::Watch: break;
  }
  predecessor_ = decision.predecessor;
  lose("another candidate is before this one");
  const auto before_us = client.exists(path_of(predecessor_), zk::Watch::Yes);
  if (!before_us) return fail(before_us.error());
  return before_us->has_value();
}

/// Reads all of them at once: their order is in the nodes' stat.
Result<std::vector<zk::Candidate>> ZkElector::read_candidates(zk::Client& client) {
  auto names = client.list(paths_.election(), zk::Watch::No);
  if (!names) return fail(names.error());
  std::erase_if(*names, [](const std::string& name) { return !zk::candidate_sequence(name); });
  std::vector<std::string> paths;
  for (const auto& name : *names) paths.push_back(path_of(name));
  const auto nodes = client.get_many(paths, zk::Watch::No);
  std::vector<zk::Candidate> candidates;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i] && nodes[i].error().code != ErrorCode::NotFound) return fail(nodes[i].error());
    if (!nodes[i]) continue;
    candidates.push_back({(*names)[i], nodes[i]->stat.ephemeral_owner, nodes[i]->stat.created_zxid});
  }
  return candidates;
}

Result<void> ZkElector::clear_up(zk::Client& client, const ElectionDecision& decision) {
  std::vector<std::string> paths;
  for (const auto& name : decision.ownerless) paths.push_back(path_of(name));
  {
    std::scoped_lock lock(mutex_);
    ownerless_.swap(paths);
  }
  for (const auto& name : decision.ghosts) {
    log_warn(kChannel, "another candidate of this very session is removed", {{"candidate", name}});
    const auto removed = client.remove(path_of(name));
    if (!removed && removed.error().code != ErrorCode::NotFound) return fail(removed.error());
  }
  return {};
}

std::vector<std::string> ZkElector::ownerless() const {
  std::scoped_lock lock(mutex_);
  return ownerless_;
}

/// Arms the watch on our own node, so that its deletion by hand is noticed.
Result<bool> ZkElector::still_ours(zk::Client& client) {
  const auto node = client.get(path_of(own_), zk::Watch::Yes);
  if (node) {
    written_ = node->data;
    return node->stat.ephemeral_owner == client.session_id();
  }
  if (node.error().code == ErrorCode::NotFound) return false;
  return fail(node.error());
}

Result<void> ZkElector::write_data(zk::Client& client) {
  const std::string wanted = wanted_data();
  if (written_ == wanted) return {};
  const auto set = client.set(path_of(own_), wanted);
  if (!set) return fail(set.error());
  written_ = wanted;
  return {};
}

Result<void> ZkElector::leave(zk::Client& client) {
  lose("resigned");
  if (tag_.empty()) return remove_ghosts(client);
  if (own_.empty()) {  // an unclear answer: is there a node?
    auto adopted = zk::adopt_tagged(client, paths_.election(), prefix(), tag_);
    if (adopted) own_ = std::move(*adopted);
    if (!adopted && adopted.error().code != ErrorCode::NotFound) return fail(adopted.error());
  }
  if (!own_.empty()) {
    const auto removed = client.remove(path_of(own_));
    if (!removed && removed.error().code != ErrorCode::NotFound) return fail(removed.error());
  }
  if (!is_post_) log_info(kChannel, "left the election", {{"candidate", own_}});
  forget_candidacy();
  return remove_ghosts(client);
}

/// Candidates of this session although it is not a candidate: they came back with older data, and as long as
/// the session lives all candidates would wait for them.
Result<void> ZkElector::remove_ghosts(zk::Client& client) {
  if (!may_have_ghosts_) return {};
  const auto candidates = read_candidates(client);
  if (!candidates && candidates.error().code != ErrorCode::NotFound) return fail(candidates.error());
  ElectionDecision ours;
  for (const auto& candidate : candidates.value_or(std::vector<zk::Candidate>{})) {
    if (candidate.owner == client.session_id()) ours.ghosts.push_back(candidate.name);
  }
  if (!ours.ghosts.empty()) {
    if (auto cleared = clear_up(client, ours); !cleared) return cleared;
  }
  may_have_ghosts_ = false;
  return {};
}

void ZkElector::win() {
  predecessor_.clear();
  if (first_.exchange(true)) return;
  if (!is_post_) log_info(kChannel, "elected", {{"candidate", own_}});
  observer_.elected();
}

void ZkElector::lose(std::string_view why) {
  if (!first_.exchange(false)) return;
  if (!is_post_) log_info(kChannel, "no longer first", {{"candidate", own_}, {"why", why}});
  observer_.lost(why);
}

void ZkElector::lose_candidacy(std::string_view why) {
  lose(why);
  forget_candidacy();
}

void ZkElector::forget_candidacy() {
  tag_.clear();
  own_.clear();
  written_.clear();
  predecessor_.clear();
}

/// What fails while the connection is lost is the session's trouble and says nothing about the election.
void ZkElector::tell_candidacy(const Result<void>& step) {
  std::scoped_lock lock(mutex_);
  candidacy_ = {!own_.empty(), predecessor_, step || !session_.is_connected() ? "" : step.error().message};
}

Candidacy ZkElector::candidacy() const {
  std::scoped_lock lock(mutex_);
  return candidacy_;
}

std::string ZkElector::wanted_data() const {
  return zk::candidate_data(master_id_, hint_ ? &*hint_ : nullptr);
}

std::string ZkElector::prefix() { return std::string(zk::kCandidatePrefix); }

void ZkElector::look_again_later() {
  if (!eligible_ || std::exchange(look_pending_, true)) return;
  session_.tasks().post_after(this, kLookAgain, [this] {
    look_pending_ = false;
    if (const auto client = session_.client()) step(*client);
  });
}

void ZkElector::retry_later() {
  if (retry_pending_) return;
  retry_pending_ = true;
  session_.tasks().post_after(this, kRetry, [this] {
    retry_pending_ = false;
    if (const auto client = session_.client()) step(*client);
  });
}

}  // namespace rota::master::cluster
