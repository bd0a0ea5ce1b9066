#include <doctest/doctest.h>

#include "common/http/metrics_page.h"

using namespace rota;
using http::MetricsPage;

TEST_CASE("metrics page: help, kind and series follow the text format") {
  MetricsPage page;
  page.counter("a_total", "Things.", 3, {{"how", "well \"done\""}});
  page.counter("a_total", "Things.", 4, {{"how", "other"}});
  page.gauge("b_seconds", "Time.", 0.5);
  CHECK(page.text() ==
        "# HELP a_total Things.\n# TYPE a_total counter\n"
        "a_total{how=\"well \\\"done\\\"\"} 3\na_total{how=\"other\"} 4\n"
        "# HELP b_seconds Time.\n# TYPE b_seconds gauge\nb_seconds 0.5\n");
}

TEST_CASE("metrics page: the buckets of a histogram add up to its count") {
  Histogram times({0.1, 1});
  for (const double time : {0.05, 0.1, 0.5, 7.0}) times.add(time);
  CHECK(times.total() == 4);
  MetricsPage page;
  page.histogram("c_seconds", "Time.", times);
  const std::string text = page.text();
  CHECK(text.find("c_seconds_bucket{le=\"0.1\"} 2\n") != std::string::npos);
  CHECK(text.find("c_seconds_bucket{le=\"1\"} 3\n") != std::string::npos);
  CHECK(text.find("c_seconds_bucket{le=\"+Inf\"} 4\n") != std::string::npos);
  CHECK(text.find("c_seconds_count 4\n") != std::string::npos);
  CHECK(text.find("c_seconds_sum 7.65") != std::string::npos);
}
