// What a worker shows: its self check, its metrics and a small status page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/log.h"
#include "common/host/self_check_rules.h"
#include "common/http/metrics_page.h"
#include "common/http/page.h"
#include "common/http/process_metrics.h"
#include "worker/worker.h"

namespace rota::worker {
namespace {

double seconds_left(MonoTime until, MonoTime now) {
  return std::max(std::chrono::duration<double>(until - now).count(), 0.0);
}

}  // namespace

void Worker::look_at_vitals(Now now) {
  if (!vitals_.is_due(now.mono)) return;
  vitals_.look({desk_.busy(), options_.slots, own_troubles(), still_awaited(), desk_.used_slots()}, now);
  {
    std::scoped_lock lock(seen_mutex_);
    const std::string& health = vitals_.last().health;
    if (seen_vitals_.health != health) {
      log_line("worker", health.starts_with("degraded") ? Severity::Warn : Severity::Info, "self check",
               {{"health", health}});
    }
    seen_vitals_ = vitals_.last();
    seen_at_ = now.mono;
    seen_process_ = vitals_.process();
  }
  if (auto told = vitals_.to_tell(); told && presence_) presence_->set_vitals(*told);
}

std::vector<std::string> Worker::own_troubles() const {
  std::vector<std::string> all;
  if (!desk_.may_claim_life()) all.emplace_back("warden: answers late");
  all.push_back(host::backlog_trouble("outbox", reporter_.outbox_bytes(), options_.outbox_limit_bytes));
  all.push_back(host::backlog_trouble("spool", spool_.bytes(), options_.output.spool_limit_bytes));
  return all;
}

std::vector<std::string> Worker::still_awaited() const {
  std::vector<std::string> all;
  if (presence_ && !presence_->is_registered()) all.emplace_back("zookeeper: not registered");
  if (leader_.get().address.port == 0) all.emplace_back("leader: none has said hello yet");
  return all;
}

Result<void> Worker::open_pages() {
  if (options_.http.port == 0) return {};
  http::ServerOptions wanted;
  wanted.host = options_.http.host;
  wanted.port = options_.http.port;
  pages_ = std::make_unique<http::Server>(
      wanted, [this](const http::Request& request) { return page(request); });
  return pages_->start();
}

http::Response Worker::page(const http::Request& request) const {
  model::WorkerVitals vitals;
  {
    std::scoped_lock lock(seen_mutex_);
    vitals = seen_vitals_;
  }
  if (request.path == "/healthz") {
    return {is_turning() ? 200 : 503, is_turning() ? vitals.health + "\n" : "hangs\n"};
  }
  if (request.path == "/metrics") return {200, metrics(), http::MetricsPage::kContentType};
  if (request.path != "/") return {404, "there are /, /metrics and /healthz\n"};
  http::Page out("worker " + options_.id);
  if (vitals.health != "ok") out.warning(vitals.health);
  if (desk_.life().incarnation.empty()) out.warning("not registered");
  out.table({"what", "value"},
            {{"pool", options_.pool},
             {"life", desk_.life().incarnation},
             {"slots busy", fmt::format("{} of {}", desk_.used_slots(), options_.slots)},
             {"load", fmt::format("{} %", vitals.load_percent)},
             {"cpu", fmt::format("{} %", vitals.cpu_percent)},
             {"memory", fmt::format("{} %", vitals.memory_percent)},
             {"disk free", fmt::format("{} MiB", vitals.disk_free_bytes >> 20)},
             {"threads", std::to_string(vitals.threads)},
             {"kills by", runner_.kill_means()},
             {"kernel limits", fmt::format("{}", fmt::join(runner_.kernel_limits(), ", "))},
             {"results on their way", std::to_string(reporter_.waiting())},
             {"version", ROTA_VERSION}},
            "");
  return {200, out.text(), "text/html; charset=utf-8"};
}

std::string Worker::metrics() const {
  host::ProcessReading process;
  model::WorkerVitals vitals;
  {
    std::scoped_lock lock(seen_mutex_);
    process = seen_process_;
    vitals = seen_vitals_;
  }
  http::MetricsPage page;
  const desk::DeskCounts counts = desk_.counts();
  page.gauge("rota_worker_slots", "Attempts that may run at once.", options_.slots);
  page.gauge("rota_worker_slots_busy", "Slots that are in use.", desk_.used_slots());
  page.counter("rota_worker_attempts_accepted_total", "Attempts accepted from the leader.",
               static_cast<double>(counts.accepted));
  page.counter("rota_worker_attempts_refused_total", "Attempts refused, for whatever reason.",
               static_cast<double>(counts.refused));
  page.counter("rota_worker_stale_commands_refused_total",
               "Commands of deposed leaders that were refused.",
               static_cast<double>(counts.refused_old_epoch));
  page.counter("rota_worker_attempts_adopted_total", "Attempts adopted from the previous life.",
               static_cast<double>(counts.adopted));
  for (auto state = model::RunState::Succeeded; state <= model::RunState::Lost;
       state = static_cast<model::RunState>(static_cast<int>(state) + 1)) {
    const auto found = counts.ended.find(state);
    page.counter("rota_worker_attempts_ended_total", "Attempts that ended here, by how.",
                 found == counts.ended.end() ? 0 : static_cast<double>(found->second),
                 {{"state", std::string(model::name_of(state))}});
  }
  page.gauge("rota_worker_outbox_results", "Results that the leader has not acknowledged.",
             static_cast<double>(reporter_.waiting()));
  page.gauge("rota_worker_outbox_bytes", "What they use on disk.",
             static_cast<double>(reporter_.outbox_bytes()));
  page.gauge("rota_worker_spool_bytes", "Output on disk that the masters do not hold yet.",
             static_cast<double>(spool_.bytes()));
  page.counter("rota_worker_log_bytes_acknowledged_total", "Output that the masters have stored.",
               static_cast<double>(shipper_.acknowledged_bytes()));
  page.counter("rota_worker_log_streams_given_up_total",
               "Streams of output whose rest a master refused for good.",
               static_cast<double>(shipper_.streams_given_up()));
  page.gauge("rota_worker_voucher_left_seconds",
             "How long the attempts may live on without an answer.",
             seconds_left(desk_.vouched_until(), clock_.mono()));
  if (const auto renewed = renew_ ? renew_->last() : std::nullopt) {
    page.gauge("rota_worker_renewal_age_seconds",
               "Since the worker asked for what the leader of this epoch last answered: that it vouches.",
               std::max(std::chrono::duration<double>(clock_.mono() - renewed->sent).count(), 0.0),
               {{"epoch", std::to_string(renewed->epoch.value)}});
  }
  page.gauge("rota_worker_registered", "1 while the worker's node stands.",
             presence_ && presence_->is_registered() ? 1 : 0);
  page.gauge("rota_worker_zookeeper_connected", "1 while its ZooKeeper session has a connection.",
             presence_ && presence_->is_connected() ? 1 : 0);
  page.gauge("rota_worker_draining", "1 while nothing new is accepted.", desk_.drain_ack().draining ? 1 : 0);
  page.gauge("rota_worker_load_ratio", "CPU x 0.4 + memory x 0.3 + slots x 0.3, smoothed.",
             vitals.load_percent / 100.0);
  page.gauge("rota_host_cpu_busy_ratio", "Share of this host's CPU time that was used lately.",
             vitals.cpu_percent / 100.0);
  page.gauge("rota_host_memory_used_ratio", "Share of this host's memory that is not available.",
             vitals.memory_percent / 100.0);
  page.gauge("rota_healthy", "1 while the self check finds nothing.",
             vitals.health == "ok" ? 1 : 0);
  page.gauge("rota_disk_free_bytes", "Free where the state folder lies.",
             static_cast<double>(vitals.disk_free_bytes));
  http::add_process(page, {process.cpu_seconds, process.resident_bytes, process.threads,
                           process.open_descriptors, process.most_descriptors},
                    "worker", ROTA_VERSION);
  return page.text();
}

}  // namespace rota::worker
