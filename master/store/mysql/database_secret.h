// The database account's password, which may change while the process runs: its file is read again when the
// server refuses a login, and when the operator asks for it (SIGHUP).
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "common/base/result.h"

namespace rota::master::store {

/// Shared by all connections of a process. Thread: any.
class DatabaseSecret {
 public:
  using ReadFile = std::function<Result<std::string>()>;

  DatabaseSecret(std::string password, ReadFile read_file);

  std::string password() const;
  /// The server refused that password: the one to try instead, when the file, or another thread that has
  /// read it meanwhile, has another. NotFound: it has the same one. Others: the file can't be read.
  Result<std::string> instead_of(const std::string& refused);
  /// Reads the file; gives whether it holds another password than before.
  Result<bool> read_again();

 private:
  mutable std::mutex mutex_;
  std::string password_;
  const ReadFile read_file_;
};

}  // namespace rota::master::store
