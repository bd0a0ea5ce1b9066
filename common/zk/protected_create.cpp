#include "common/zk/protected_create.h"

#include <algorithm>

#include "common/zk/candidate_name.h"

namespace rota::zk {

namespace {

constexpr int kTries = 3;

Error not_clear(const std::string& what, const Error& cause) {
  return Error(ErrorCode::UnknownOutcome, what + ": " + cause.message);
}

/// The nodes in the folder with this tag that belong to the present session, in order of creation.
Result<std::vector<Candidate>> tagged_and_ours(Client& client, const std::string& folder,
                                                 const std::string& start) {
  // The lost create may still be on its way through the servers; after a sync the listing shows it.
  if (auto synced = client.sync(folder); !synced) return fail(synced.error());
  auto names = client.list(folder, Watch::No);
  std::vector<Candidate> ours;
  if (!names && names.error().code == ErrorCode::NotFound) return ours;  // not even the folder
  if (!names) return fail(names.error());
  for (const auto& name : *names) {
    if (!name.starts_with(start)) continue;
    const auto stat = client.exists(folder + "/" + name, Watch::No);
    if (!stat) return fail(stat.error());
    if (!stat->has_value() || (*stat)->ephemeral_owner != client.session_id()) continue;
    ours.push_back({name, (*stat)->ephemeral_owner, (*stat)->created_zxid});
  }
  std::sort(ours.begin(), ours.end(), stands_before);
  return ours;
}

}  // namespace

Result<std::string> adopt_tagged(Client& client, const std::string& folder,
                                 const std::string& prefix, const std::string& tag) {
  auto ours = tagged_and_ours(client, folder, prefix + tag + "_");
  if (!ours) return fail(not_clear("looking for the node tagged " + tag, ours.error()));
  if (ours->empty()) return fail(ErrorCode::NotFound, "no node of this session is tagged " + tag);
  for (std::size_t i = 1; i < ours->size(); ++i) {
    const auto gone = client.remove(folder + "/" + (*ours)[i].name);
    if (!gone && gone.error().code != ErrorCode::NotFound) {
      return fail(not_clear("removing the double " + (*ours)[i].name, gone.error()));
    }
  }
  return ours->front().name;
}

Result<std::string> protected_create(Client& client, const std::string& folder,
                                     const std::string& prefix, const std::string& tag,
                                     const std::string& data) {
  const std::string start = folder + "/" + prefix + tag + "_";
  Error last(ErrorCode::UnknownOutcome, "creating " + start + " was not answered");
  for (int i = 0; i < kTries; ++i) {
    auto made = client.create(start, data, CreateMode::EphemeralSequential);
    if (made) return made->substr(folder.size() + 1);
    if (made.error().retry != Retry::Unknown) return fail(made.error());
    auto adopted = adopt_tagged(client, folder, prefix, tag);
    if (adopted || adopted.error().code != ErrorCode::NotFound) return adopted;
    last = made.error();  // certainly not created: another try makes no ghost
  }
  return fail(last);
}

}  // namespace rota::zk
