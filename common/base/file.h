// Small files that must survive a crash, and the identity of processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace rota {

/// The whole file, at most `limit` bytes. NotFound when it is not there; Corrupt when longer.
Result<std::string> read_file(const std::string& path, std::size_t limit = 1u << 20);

/// Replaces the file so that a crash leaves the old or the new content, never a mixture: temporary
/// file beside it, fsync, rename, fsync of the folder. `mode` is the permission of the new file.
Result<void> write_file_synced(const std::string& path, std::string_view content,
                               mode_t mode = 0644);

/// The same without any sync: the content outlives this process, but a crash of the host may lose it.
Result<void> replace_file(const std::string& path, std::string_view content, mode_t mode = 0600);

/// After this call, a name that was created, exchanged or removed in the folder of `path` survives a crash.
Result<void> sync_folder_of(const std::string& path);

using Names = std::vector<std::string>;

/// The names in a folder, except "." and "..", in no order. Empty when there is no such folder; Unavailable
/// when it cannot be read. Never throws; the standard's iterators do when a folder vanishes.
Result<Names> names_in(const std::string& folder);

/// Creates the folder and its parents (mode 0755, or `mode` for the last); fine when it exists.
Result<void> make_folders(const std::string& path, mode_t mode = 0755);

/// The boot id of this host, which changes with each boot.
Result<std::string> read_boot_id();

/// When a process started, in clock ticks since boot (field 22 of /proc/PID/stat); with the pid and
/// the boot id this names a process forever. Empty when there is no such process.
std::optional<std::uint64_t> process_start_ticks(pid_t pid);

}  // namespace rota
