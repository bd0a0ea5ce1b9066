#include "common/http/metrics_page.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <vector>

namespace rota::http {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct MetricsPage::Families {
  std::vector<MetricFamily> all;

  ClientMetric& add(const std::string& name, const std::string& help, MetricType type,
                    const Labels& labels) {
    if (all.empty() || all.back().name != name) {
      MetricFamily family;
      family.name = name;
      family.help = help;
      family.type = type;
      all.push_back(std::move(family));
    }
    ClientMetric& metric = all.back().metric.emplace_back();
    for (const auto& [key, value] : labels) metric.label.push_back({key, value});
    return metric;
  }
};

MetricsPage::MetricsPage() : families_(std::make_unique<Families>()) {}
MetricsPage::~MetricsPage() = default;

void MetricsPage::counter(const std::string& name, const std::string& help, double value,
                          const Labels& labels) {
  families_->add(name, help, MetricType::Counter, labels).counter.value = value;
}

void MetricsPage::gauge(const std::string& name, const std::string& help, double value,
                        const Labels& labels) {
  families_->add(name, help, MetricType::Gauge, labels).gauge.value = value;
}

void MetricsPage::histogram(const std::string& name, const std::string& help, const Histogram& values) {
  ClientMetric& metric = families_->add(name, help, MetricType::Histogram, {});
  metric.histogram.sample_count = static_cast<std::uint64_t>(values.total());
  metric.histogram.sample_sum = values.sum();
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < values.counts().size(); ++i) {
    below += static_cast<std::uint64_t>(values.counts()[i]);
    const bool is_last = i == values.bounds().size();
    metric.histogram.bucket.push_back(
        {below, is_last ? std::numeric_limits<double>::infinity() : values.bounds()[i]});
  }
}

std::string MetricsPage::text() const { return prometheus::TextSerializer().Serialize(families_->all); }

}  // namespace rota::http
