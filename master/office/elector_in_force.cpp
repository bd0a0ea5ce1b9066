#include "master/office/elector_in_force.h"

#include <fmt/format.h>

namespace rota::master {

std::string why_stand_by(const std::string& own, const std::string& named) {
  const std::string in_force = named.empty() ? kZookeeperElector : named;
  if (own == in_force) return {};
  return fmt::format("it stands by, because the database names the elector '{0}', and this master is "
                     "configured for '{1}'; set `elector: {0}` in its configuration and restart it, or "
                     "change the cluster's elector: rota-master --set-elector {1} --config FILE",
                     in_force, own);
}

ElectorInForce::ElectorInForce(std::string own, std::function<Result<std::string>()> read)
    : own_(std::move(own)), read_(std::move(read)) {}

Result<void> ElectorInForce::look() {
  std::scoped_lock one_reader(reading_);
  auto named = read_();
  if (!named) return fail(named.error());
  std::scoped_lock lock(mutex_);
  why_ = master::why_stand_by(own_, *named);
  return {};
}

Result<void> ElectorInForce::check() {
  if (auto looked = look(); !looked) return looked;
  const std::string why = why_stand_by();
  return why.empty() ? Result<void>() : fail(ErrorCode::Fenced, why);
}

std::string ElectorInForce::why_stand_by() const {
  std::scoped_lock lock(mutex_);
  return why_;
}

}  // namespace rota::master
