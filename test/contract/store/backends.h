// The implementations that the contract suite runs on. Each case gets a fresh, empty store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "master/store/history_store.h"
#include "master/store/log_store.h"
#include "master/store/node_store.h"
#include "master/store/reader.h"
#include "master/store/retention_store.h"
#include "master/store/store.h"

namespace rota::master::store::testing {

/// The faces of one store, which may be one object or several.
struct Backend {
  std::string name;
  std::shared_ptr<Store> store;
  std::shared_ptr<Office> office;
  std::shared_ptr<Reader> reader;
  std::shared_ptr<LogStore> logs;
  std::shared_ptr<RetentionStore> retention;
  std::shared_ptr<HistoryStore> history;
  std::shared_ptr<NodeStore> nodes;
};

std::vector<Backend> fresh_backends();

/// One that keeps logs.
struct LogBackend {
  std::string name;
  std::shared_ptr<LogStore> logs;
  std::shared_ptr<LogStore> other;  ///< one more master's face of the same logs
};

/// In memory, on MySQL, in a folder; the last two through three masters, each call through the next one,
/// so that what holds here holds for any of them.
std::vector<LogBackend> fresh_log_backends();

/// A fresh store of each kind, in which epoch 1 is in force.
std::vector<Backend> led_backends();

}  // namespace rota::master::store::testing

/// The body that follows runs once per implementation, with `on` naming it.
#define ON_EACH_STORE(on, backends)          \
  for (const auto& on : (backends))          \
    if (INFO("store: ", on.name); true)
