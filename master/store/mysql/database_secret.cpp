#include "master/store/mysql/database_secret.h"

namespace rota::master::store {

DatabaseSecret::DatabaseSecret(std::string password, ReadFile read_file)
    : password_(std::move(password)), read_file_(std::move(read_file)) {}

std::string DatabaseSecret::password() const {
  const std::scoped_lock lock(mutex_);
  return password_;
}

Result<std::string> DatabaseSecret::instead_of(const std::string& refused) {
  if (auto known = password(); known != refused) return known;
  auto changed = read_again();
  if (!changed) return fail(changed.error());
  auto now = password();
  if (now == refused) return fail(ErrorCode::NotFound, "database.password_file holds the same one");
  return now;
}

Result<bool> DatabaseSecret::read_again() {
  auto read = read_file_();
  if (!read) return fail(read.error());
  const std::scoped_lock lock(mutex_);
  const bool has_changed = *read != password_;
  password_ = std::move(*read);
  return has_changed;
}

}  // namespace rota::master::store
