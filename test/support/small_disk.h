// A disk that is really full: a small file system over a folder, in a mount namespace of the calling test's
// own thread, so that it always vanishes with the test. It needs the right to mount (root); a test without
// that right says so.
//
// It uses ext4 in a file: unlike a file system in memory it has blocks, a journal and late allocation, so a
// full disk behaves as in production.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "common/base/unique_fd.h"

namespace rota::testing {

enum class DiskKind { Memory, Ext4 };

inline bool mount_small_disk(const std::string& folder, DiskKind kind, int mebibytes) {
  const std::string size = std::to_string(mebibytes) + "M";
  if (kind == DiskKind::Memory) {
    return ::mount("none", folder.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  const std::string image = folder + ".image";
  const std::string made = "truncate -s " + size + " " + image + " && PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -m 0 " +
                           image + " && mount -o loop " + image + " " + folder;
  const bool is_mounted = std::system(("( " + made + " ) >/dev/null 2>&1").c_str()) == 0;
  ::unlink(image.c_str());
  return is_mounted;
}

/// Runs `body` while `folder` has this much room; false, with a message, when that is not possible.
inline bool on_small_disk(const std::string& folder, DiskKind kind, int mebibytes, const std::function<void()>& body) {
  bool may = false;
  std::thread([&] {
    may = ::unshare(CLONE_FS | CLONE_NEWNS) == 0 &&
          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
          mount_small_disk(folder, kind, mebibytes);
    if (may) body();
  }).join();
  if (!may) MESSAGE("NOT RUN: no right to mount ", kind == DiskKind::Ext4 ? "an ext4 in a file" : "a tmpfs");
  return may;
}

/// Uses all room that is left, to the last block: blocks that ext4 had reserved for the first bytes become free
/// once these are written.
inline void fill_disk(const std::string& folder) {
  const UniqueFd file(::open((folder + "/filler").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  REQUIRE(file.is_open());
  const std::string block(64 << 10, 'x');
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const std::size_t size : std::array<std::size_t, 4>{block.size(), 4096, 1024, 1}) {
      while (::write(file.get(), block.data(), size) > 0) has_grown = true;
      CHECK(errno == ENOSPC);
    }
    ::fsync(file.get());
  }
}

}  // namespace rota::testing
