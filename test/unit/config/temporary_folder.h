// A folder that goes with the test.
#pragma once

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "common/base/file.h"

namespace rota::config {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-config-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  /// Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& content, mode_t mode = 0600) const {
    const std::string path = path_ + "/" + name;
    REQUIRE(write_file_synced(path, content, mode));
    REQUIRE(::chmod(path.c_str(), mode) == 0);  // whatever the umask
    return path;
  }

 private:
  std::string path_;
};

}  // namespace rota::config
