#include "common/zk/paths.h"

#include <algorithm>
#include <cctype>

namespace rota::zk {

bool is_cluster_name(const std::string& name) {
  if (name.empty() || name.size() > 64 || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  });
}

namespace {

/// A persistent create is idempotent, so after a lost answer the caller simply repeats it.
Result<void> make_one(Client& client, const std::string& path) {
  const auto made = client.create(path, "", CreateMode::Persistent);
  if (made || made.error().code == ErrorCode::AlreadyExists) return {};
  return fail(made.error());
}

}  // namespace

Result<void> ensure_folder(Client& client, const std::string& path) {
  const auto there = client.exists(path, Watch::No);
  if (!there) return fail(there.error());
  if (there->has_value()) return {};
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (auto made = make_one(client, path.substr(0, slash)); !made) return made;
  }
  return make_one(client, path);
}

Result<void> ensure_cluster(Client& client, const Paths& paths) {
  for (const auto& folder :
       {paths.root(), paths.election(), paths.masters(), paths.workers(), paths.beats()}) {
    if (auto made = ensure_folder(client, folder); !made) return made;
  }
  return {};
}

}  // namespace rota::zk
