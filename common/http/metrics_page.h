// Collects measurements and writes them in Prometheus's text format. Names end in their unit, counters in
// _total (Prometheus's conventions); each name has one help text and one kind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/base/histogram.h"

namespace rota::http {

/// Thread: one.
class MetricsPage {
 public:
  using Labels = std::map<std::string, std::string>;

  MetricsPage();
  ~MetricsPage();

  /// A value that only grows while the process lives. The same name with other labels adds a series.
  void counter(const std::string& name, const std::string& help, double value, const Labels& labels = {});
  void gauge(const std::string& name, const std::string& help, double value, const Labels& labels = {});
  void histogram(const std::string& name, const std::string& help, const Histogram& values);

  std::string text() const;
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace rota::http
