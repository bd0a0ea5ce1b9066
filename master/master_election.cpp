// A master's part in the election: whether it stands, and what keeps it from office.
#include "common/base/log.h"
#include "master/master.h"
#include "master/office/candidate_words.h"

namespace rota::master {

/// To the end of the row of candidates: somebody else was faster, or this master could not lead.
void Master::rejoin() {
  stand_back();
  stand();
}

/// Only masters of the elector in force do.
void Master::stand() {
  if (in_force_.why_stand_by().empty()) elector_->campaign();
}

void Master::stand_back() {
  {
    std::scoped_lock lock(mutex_);
    elected_ = false;
  }
  elector_->resign();
}

/// Whether this master's elector is still, or is now, the one in force.
Result<void> Master::look_at_elector() {
  if (auto looked = in_force_.look(); !looked) return looked;
  const std::string why = in_force_.why_stand_by();
  if (std::exchange(stood_by_, why) == why) return {};
  if (why.empty()) {
    log_info("election", "this master's elector is in force", {{"elector", options_.elector}});
    if (database_good_) stand();
  } else {
    log_warn("election", "this master stands by: another elector is in force", {{"why", why}});
    stand_back();
  }
  return {};
}

OfficeWatchParts Master::office_parts() {
  OfficeWatchParts parts;
  parts.leads = [this] { return who_leads(); };
  parts.has_session = [this] { return session_.is_connected(); };
  parts.database = [this] { return database_->why_not(); };
  parts.stands_in_zookeeper = options_.elector == kZookeeperElector;
  parts.candidacy = [this] { return candidacy(); };
  parts.describe = [this](const std::string& name) {
    const auto client = session_.client();
    if (!client) return name;
    return options_.elector == kZookeeperElector ? words_on_candidate(*client, paths_, name)
                                                 : words_on_master(*client, paths_, name);
  };
  parts.changed = [this] { self_check_->look_soon(); };
  return parts;
}

/// What keeps it from standing is a trouble of the candidacy, on every surface.
cluster::Candidacy Master::candidacy() const {
  const std::string why = database_->why_not().empty() ? in_force_.why_stand_by() : "";
  return why.empty() ? elector_->candidacy() : cluster::Candidacy{false, "", why};
}

Leads Master::who_leads() const {
  if (leading()) return Leads::This;
  return elector_->leader() ? Leads::Another : Leads::Nobody;
}

}  // namespace rota::master
