#include "worker/warden/warden_options.h"

#include <charconv>

namespace rota::worker::warden {

namespace {

Result<int> attempts_in(const std::string& text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < 1 || value > 100'000) {
    return fail(ErrorCode::InvalidArgument, "--max-attempts: 1 to 100000, not '" + text + "'");
  }
  return value;
}

Result<void> apply_option(WardenOptions& options, const std::string& name, const std::string& value) {
  if (name == "--means") {
    const auto means = means_named(value);
    if (!means) return fail(means.error());
    options.means = *means;
  } else if (name == "--cgroup-dir") {
    options.cgroup_dir = value;
  } else if (name == "--state-dir") {
    options.state_dir = value;
  } else if (name == "--sweep") {
    options.sweep_dir = value;
  } else if (name == "--max-attempts") {
    const auto count = attempts_in(value);
    if (!count) return fail(count.error());
    options.max_attempts = *count;
  } else {
    return fail(ErrorCode::InvalidArgument, "unknown option '" + name + "'");
  }
  return {};
}

}  // namespace

Result<WardenOptions::MeansChoice> means_named(const std::string& name) {
  if (name == "auto") return WardenOptions::MeansChoice::Auto;
  if (name == "pid_namespace") return WardenOptions::MeansChoice::PidNamespace;
  if (name == "cgroup") return WardenOptions::MeansChoice::Cgroup;
  if (name == "scan") return WardenOptions::MeansChoice::Scan;
  return fail(ErrorCode::InvalidArgument,
              "--means: auto, pid_namespace, cgroup or scan, not '" + name + "'");
}

Result<WardenOptions> parse_options(const std::vector<std::string>& arguments) {
  WardenOptions options;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at] != "--"; at += 2) {
    if (at + 1 == arguments.size()) {
      return fail(ErrorCode::InvalidArgument, "'" + arguments[at] + "' needs a value");
    }
    if (auto applied = apply_option(options, arguments[at], arguments[at + 1]); !applied) {
      return fail(applied.error());
    }
  }
  if (at < arguments.size()) {
    options.proper.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
  }
  if (options.proper.empty() && options.sweep_dir.empty()) {
    return fail(ErrorCode::InvalidArgument, "nothing to run: give the worker's command after --");
  }
  return options;
}

}  // namespace rota::worker::warden
