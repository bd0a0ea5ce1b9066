#include <doctest/doctest.h>

#include "common/base/file.h"
#include "common/config/load.h"
#include "test/unit/config/temporary_folder.h"

using namespace rota;
using namespace rota::config;

namespace {

std::string content(const std::string& path) { return read_file(path).value_or(""); }

}  // namespace

TEST_CASE("default config: config/master.yaml and config/worker.yaml are what the table prints") {
  CHECK(content(ROTA_CONFIG_FOLDER "/master.yaml") == default_master_yaml());
  CHECK(content(ROTA_CONFIG_FOLDER "/worker.yaml") == default_worker_yaml());
}

TEST_CASE("default config: gives the same options as no file") {
  TemporaryFolder folder;
  const auto master = load_master(folder.file("master.yaml", default_master_yaml()), {});
  if (!master) FAIL(master.error().text());
  CHECK(needs_restart(*master, load_master("", {}).value()).empty());
  const auto worker = load_worker(folder.file("worker.yaml", default_worker_yaml()), {});
  if (!worker) FAIL(worker.error().text());
  CHECK(needs_restart(*worker, load_worker("", {}).value()).empty());
  CHECK(worker->zookeeper.session_timeout == Millis{6000});
}

TEST_CASE("default config: each key has a comment within 100 columns") {
  for (const auto& text : {default_master_yaml(), default_worker_yaml()}) {
    std::string previous;
    std::size_t begin = 0;
    while (begin < text.size()) {
      const auto end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      CHECK(line.size() <= 100);
      const bool is_key = !line.empty() && line.find('#') == std::string::npos;
      const bool is_section = is_key && line.back() == ':';
      if (is_key && !is_section) CHECK(previous.find('#') != std::string::npos);
      previous = line;
      begin = end + 1;
    }
  }
}
