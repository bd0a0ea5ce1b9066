#include "sim_office.h"

namespace rota::sim {

Result<void> SimOffice::probe() {
  if (store_.faults.down) return fail(ErrorCode::Unavailable, "down");
  return {};
}

Result<master::store::Office::Marks> SimOffice::read_marks() {
  if (auto fine = probe(); !fine) return fail(fine.error());
  const SimTables& tables = store_.tables();
  return Marks{store_.epoch(),          store_.watermark(), tables.cluster_uuid,
               clockwork_.true_wall() + clockwork_.common_step, tables.holder, tables.zookeeper, tables.beats};
}

Result<std::string> SimOffice::settle_uuid(const std::string& proposed) {
  if (auto fine = probe(); !fine) return fail(fine.error());
  std::string& uuid = store_.tables().cluster_uuid;
  if (uuid.empty()) uuid = proposed;
  return uuid;
}

Result<Millis> SimOffice::settle_grant(Millis own) {
  if (auto fine = probe(); !fine) return fail(fine.error());
  Millis& longest = store_.tables().longest_grant;
  longest = std::max(longest, own);
  return longest;
}

Result<void> SimOffice::claim(const master::store::Claim& claim) {
  if (auto fine = probe(); !fine) return fine;
  if (store_.is_epoch_locked()) {
    marks_.hit("takeover_blocked_by_a_frozen_leader");
    return fail(ErrorCode::TimedOut, "the epoch row is locked");
  }
  const bool lost = random_.per_mille(store_.faults.unknown_per_mille);
  if (claim.epoch <= store_.epoch()) return fail(ErrorCode::Conflict, "the epoch is not higher");
  if (lost && random_.chance(50)) {
    marks_.hit("takeover_unknown_not_applied");
    return fail(ErrorCode::UnknownOutcome, "answer lost, not applied");
  }
  store_.enter_office(claim);
  if (!lost) return {};
  marks_.hit("takeover_unknown_applied");
  return fail(ErrorCode::UnknownOutcome, "answer lost, applied");
}

Result<void> SimOffice::settle_zookeeper(Epoch epoch, const master::store::KnownZookeeper& zookeeper) {
  if (auto fine = probe(); !fine) return fine;
  if (epoch != store_.epoch()) return fail(ErrorCode::Fenced, "another epoch is in force");
  store_.tables().zookeeper = zookeeper;
  if (!random_.per_mille(store_.faults.unknown_per_mille)) return {};
  return fail(ErrorCode::UnknownOutcome, "answer lost, applied");
}

Result<void> SimOffice::beat(Epoch epoch) {
  if (auto fine = probe(); !fine) return fine;
  if (epoch == store_.epoch()) store_.beat();
  return {};
}

Result<std::int64_t> SimOffice::count_held() {
  if (auto fine = probe(); !fine) return fail(fine.error());
  return master::store::held_in(store_.tables());
}

Result<master::core::Recovered> SimOffice::recover() {
  if (auto fine = probe(); !fine) return fail(fine.error());
  return store_.recover();
}

Result<std::vector<model::Gap>> SimOffice::gaps_beyond(WallTime moment) {
  if (auto fine = probe(); !fine) return fail(fine.error());
  return master::store::gaps_beyond(store_.tables(), moment);
}

Result<void> SimOffice::rewind(const master::store::Rewind& rewind) {
  if (auto fine = probe(); !fine) return fine;
  return store_.rewind(rewind);
}

}  // namespace rota::sim
