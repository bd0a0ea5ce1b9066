#include "master/dispatch/dispatch_batch.h"

#include <map>
#include <set>
#include <string_view>

#include "common/wire/worker_wire.h"

namespace rota::master::dispatch {
namespace {

using Kind = core::DispatchVerdict::Kind;

std::size_t weight_of(const thrift::DispatchItem& item) {
  std::size_t sum = 256 + item.job_name.size() + item.space.size() + item.checkpoint.size();
  for (const auto& [key, value] : item.parameters) sum += key.size() + value.size() + 8;
  return sum;
}

/// Fills one call.
class Packer {
 public:
  explicit Packer(const LifeWorks* life) : life_(life) {}

  /// What the piece adds to the call.
  std::size_t cost_of(const Piece& piece) const {
    const std::size_t own = weight_of(piece.item);
    if (!is_shared(piece)) return own + piece.work->weight;
    if (places_.contains(piece.work->hash)) return own;
    return own + kHashBytes + (life_->knows(piece.work->hash) ? 0 : piece.work->weight);
  }

  void add(Piece&& piece) {
    if (is_shared(piece)) {
      piece.item.__set_shared(place_of(piece.work));
    } else {
      carry_own(piece);
    }
    part_.request.items.push_back(std::move(piece.item));
  }

  Part finish() {
    part_.request.__isset.items = true;
    part_.request.__isset.works = !part_.works.empty();
    return std::move(part_);
  }

 private:
  static constexpr std::size_t kHashBytes = 48;

  bool is_shared(const Piece& piece) const { return life_ != nullptr && life_->fits(piece.work->weight); }

  /// The worker's own parameters go once, merged.
  static void carry_own(Piece& piece) {
    piece.item.__set_work(piece.work->work);
    piece.item.parameters.insert(piece.work->work.parameters.begin(), piece.work->work.parameters.end());
    piece.item.work.parameters.clear();
  }

  std::int32_t place_of(const DefinitionCache::Definition& work) {
    const auto place = static_cast<std::int32_t>(part_.works.size());
    const auto [found, is_new] = places_.try_emplace(work->hash, place);
    if (!is_new) return found->second;
    thrift::SharedWork& named = part_.request.works.emplace_back();
    named.__set_hash(work->hash);
    if (!life_->knows(work->hash)) named.__set_work(work->work);
    part_.works.push_back(work);
    return found->second;
  }

  const LifeWorks* life_;
  Part part_;
  std::map<std::string_view, std::int32_t> places_;  // by the hash, which part_.works keeps
};

model::Refusal refusal_in(const rpc::CallError& error) {
  if (!error.answered) return model::Refusal::None;
  switch (error.error.code) {
    case ErrorCode::Fenced: return model::Refusal::OldEpoch;
    case ErrorCode::Conflict: return model::Refusal::WrongLife;
    case ErrorCode::Overloaded: return model::Refusal::NoSlot;
    case ErrorCode::InvalidArgument: return model::Refusal::Malformed;
    default: return model::Refusal::None;
  }
}

}  // namespace

Piece make_piece(const core::DispatchItem& item, DefinitionCache::Definition work) {
  Piece piece{{}, std::move(work)};
  thrift::DispatchItem& out = piece.item;
  out.__set_attempt(wire::to_wire(item.attempt));
  out.__set_job(item.job.value);
  out.__set_job_version(item.version);
  out.__set_job_name(piece.work->job_name);
  out.__set_space(piece.work->space);
  out.__set_kind(std::string(model::name_of(item.kind)));
  if (item.tick) out.__set_tick_ms(to_ms(*item.tick));
  out.__set_scheduled_ms(to_ms(item.scheduled));
  if (!item.schedule.empty()) out.__set_schedule(item.schedule);
  if (item.parent != RunId{}) {
    out.__set_parent(item.parent.value);
    out.__set_parent_state(std::string(model::name_of(item.parent_ended)));
  }
  out.__set_timeout_ms(item.timeout.count());
  out.__set_kill_grace_ms(item.kill_grace.count());
  out.__set_disconnect_grace_ms(item.disconnect_grace.count());
  if (item.demand.slots != 1) out.__set_slots(item.demand.slots);
  if (!item.demand.needs.empty()) out.__set_needs(item.demand.needs);
  if (item.parameters != nullptr) out.__set_parameters(*item.parameters);
  return piece;
}

Part pack(std::vector<Piece>& pieces, std::size_t& next, const PartLimits& limits, const LifeWorks* life) {
  Packer packer(life);
  std::size_t bytes = 0;
  for (std::size_t count = 0; next < pieces.size() && count < limits.items; ++next, ++count) {
    const std::size_t cost = packer.cost_of(pieces[next]);
    if (count > 0 && bytes + cost > limits.bytes) break;
    bytes += cost;
    packer.add(std::move(pieces[next]));
  }
  return packer.finish();
}

std::vector<Piece> take_unknown(Part& part, const std::vector<thrift::DispatchAnswer>& answers) {
  std::set<model::AttemptKey> unknown;
  for (const auto& answer : answers) {
    if (wire::is_unknown_work(answer)) unknown.insert(wire::from_wire(answer.attempt));
  }
  std::vector<Piece> out;
  if (unknown.empty()) return out;
  std::vector<thrift::DispatchItem> others;
  for (thrift::DispatchItem& item : part.request.items) {
    if (!item.__isset.shared || !unknown.contains(wire::from_wire(item.attempt))) {
      others.push_back(std::move(item));
      continue;
    }
    item.__isset.shared = false;
    const auto place = static_cast<std::size_t>(item.shared);
    out.push_back({std::move(item), part.works[place]});
  }
  part.request.items = std::move(others);
  return out;
}

std::vector<core::DispatchVerdict> read_answers(
    const std::vector<thrift::DispatchItem>& items,
    const std::vector<thrift::DispatchAnswer>& answers) {
  std::map<model::AttemptKey, const thrift::DispatchAnswer*> by_attempt;
  for (const auto& answer : answers) by_attempt[wire::from_wire(answer.attempt)] = &answer;
  std::vector<core::DispatchVerdict> out;
  out.reserve(items.size());
  for (const thrift::DispatchItem& item : items) {
    core::DispatchVerdict verdict;
    verdict.attempt = wire::from_wire(item.attempt);
    const auto found = by_attempt.find(verdict.attempt);
    if (found == by_attempt.end()) {
      verdict.detail = "the worker's answer left it out";
    } else if (wire::is_unknown_work(*found->second)) {
      verdict.detail = "the worker did not keep what it runs";
    } else {
      verdict.refusal = wire::refusal_of(*found->second);
      verdict.kind = found->second->accepted ? Kind::Accepted : Kind::Refused;
      verdict.detail = found->second->detail;
    }
    out.push_back(std::move(verdict));
  }
  return out;
}

std::vector<core::DispatchVerdict> verdicts_of_failure(
    const std::vector<thrift::DispatchItem>& items, const rpc::CallError& error) {
  const model::Refusal refusal = refusal_in(error);
  const Kind kind = refusal == model::Refusal::None ? Kind::Unknown : Kind::Refused;
  std::vector<core::DispatchVerdict> out;
  out.reserve(items.size());
  for (const thrift::DispatchItem& item : items) {
    out.push_back({wire::from_wire(item.attempt), kind, refusal, error.error.message});
  }
  return out;
}

}  // namespace rota::master::dispatch
