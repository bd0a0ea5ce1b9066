#include "common/http/process_metrics.h"

namespace rota::http {

void add_process(MetricsPage& page, const ProcessFigures& process, const std::string& kind,
                 const std::string& version) {
  page.counter("process_cpu_seconds_total", "Processor time of this process.", process.cpu_seconds);
  page.gauge("process_resident_memory_bytes", "Memory of this process.",
             static_cast<double>(process.resident_bytes));
  page.gauge("process_threads", "Threads of this process.", process.threads);
  page.gauge("process_open_fds", "Descriptors that are open.",
             static_cast<double>(process.open_descriptors));
  page.gauge("process_max_fds", "Descriptors that may be open.",
             static_cast<double>(process.most_descriptors));
  page.gauge("rota_build_info", "Always 1; the labels say what runs.", 1,
             {{"kind", kind}, {"version", version}});
}

}  // namespace rota::http
