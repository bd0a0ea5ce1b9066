// What a master shows to people and monitoring: status page, metrics, health. From memory alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/http/server.h"
#include "master/api/log_intake.h"
#include "master/core/snapshot.h"
#include "master/page_rows.h"
#include "master/office/office_state.h"
#include "master/upkeep/self_check.h"

namespace rota::master {

/// All that the pages are made of, as it stands at the moment of the request.
struct PageFacts {
  std::string id;
  std::string host;                                ///< by which others reach this master
  std::string cluster;
  std::string version;
  std::optional<Epoch> leading;
  std::shared_ptr<const core::Snapshot> snapshot;  ///< null when not leading
  SelfCheckReport check;
  OfficeView office;
  MonoTime now{};                                  ///< as the office's ages are counted
  std::string tick_hold;                                ///< why ticks are held, as the leader knows it
  std::string standstill;                          ///< empty: the process makes progress
  api::LogRefusals log_refusals;                   ///< of output, since this process began
  std::int64_t stale_commands_refused = 0;         ///< by workers, since this process began
  std::shared_ptr<const PageRowsRead> rows;        ///< null: not read yet
  std::optional<api::MasterFigures> figures = {};  ///< of this master
  std::shared_ptr<const core::NodeFacts> nodes = {};  ///< null when not leading, or nothing is noted yet
};

/// "/", "/metrics", "/healthz"; anything else is not found. Pure.
http::Response page_of(const http::Request& request, const PageFacts& facts);

}  // namespace rota::master
