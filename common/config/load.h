// Reads options from a YAML file and the environment: strictly (P25: a wrong configuration never
// starts), and with every problem in one run. Programs print `problems.text()` to stderr and
// exit 2.
#pragma once

#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "common/base/result.h"
#include "common/config/options.h"
#include "common/config/problems.h"

namespace rota::config {

/// The environment variables that matter here: those that begin with ROTA_.
using Environment = std::map<std::string, std::string>;
Environment process_environment();

/// Returns options, or all their problems. An empty path means no file: defaults and environment.
/// Overrides are named ROTA_ + the key in capitals with dots as underscores
/// (ROTA_ZOOKEEPER_CONNECT); lists are separated by commas, maps are written k=v,k=v.
tl::expected<MasterOptions, Problems> load_master(const std::string& path,
                                                  const Environment& environment);
tl::expected<WorkerOptions, Problems> load_worker(const std::string& path,
                                                  const Environment& environment);

/// All whole numbers and durations by their keys, in the keys' units.
std::map<std::string, std::int64_t> whole_values(MasterOptions options);

/// The commented default file, written from the table: what --print-default-config prints.
std::string default_master_yaml();
std::string default_worker_yaml();

/// For SIGHUP: load again, pass `.log` to log_start, and tell the operator these keys, which differ but
/// are read only at the start.
std::vector<std::string> needs_restart(const MasterOptions& now, const MasterOptions& wanted);
std::vector<std::string> needs_restart(const WorkerOptions& now, const WorkerOptions& wanted);

/// The content of a `..._file` secret without its last line break. Denied unless it is a regular
/// file of this user without permissions for others (0600 or 0400).
Result<std::string> read_secret(const std::string& path);

/// Whether an address needs no permission: 127.0.0.0/8, ::1 or localhost.
bool is_loopback(const std::string& host);

}  // namespace rota::config
