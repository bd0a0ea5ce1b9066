// The metrics that every process has, with their usual names.
#pragma once

#include <cstdint>
#include <string>

#include "common/http/metrics_page.h"

namespace rota::http {

struct ProcessFigures {
  double cpu_seconds = 0;
  std::int64_t resident_bytes = 0;
  std::int32_t threads = 0;
  std::int64_t open_descriptors = 0;
  std::int64_t most_descriptors = 0;
};

/// `kind`: "master" or "worker".
void add_process(MetricsPage& page, const ProcessFigures& process, const std::string& kind,
                 const std::string& version);

}  // namespace rota::http
