#include "master/verify/expect_check.h"

#include <algorithm>

#include "common/base/duration_text.h"
#include "master/verify/findings.h"

namespace rota::master::verify {

using model::LateRow;
using model::RunState;
using model::ToldOnce;

namespace {

constexpr std::int64_t kDaySeconds = 24 * 3600;

std::string words_of(RunId run) { return fmt::format("run {}", run.value); }

bool goes_one_by_one(const model::JobRules& rules) {
  const bool goes_beside = rules.overlap == model::Overlap::Allow ||
                           rules.overlap == model::Overlap::Replace ||
                           rules.overlap == model::Overlap::Terminate;
  return rules.concurrency == 1 && !goes_beside && rules.late != model::LatePolicy::FireAll;
}

/// UTC seconds at which a zone's clocks show a local time first; in a hole, the moment at which it ends.
std::int64_t shown_at(const model::ZoneRules& zone, std::int64_t local_s) {
  for (std::size_t i = 0; i < zone.changes.size(); ++i) {
    const model::ZoneChange& change = zone.changes[i];
    const std::int64_t utc = local_s - change.offset_s;
    const bool is_last = i + 1 == zone.changes.size();
    if (!is_last && utc >= zone.changes[i + 1].from_utc_s) continue;
    return std::max(utc, i == 0 ? utc : change.from_utc_s);
  }
  return local_s;
}

std::int64_t offset_at(const model::ZoneRules& zone, std::int64_t utc_s) {
  std::int64_t offset = 0;
  for (const model::ZoneChange& change : zone.changes) {
    if (change.from_utc_s <= utc_s) offset = change.offset_s;
  }
  return offset;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

Millis middle_of(std::deque<Millis> last) {
  std::ranges::sort(last);
  const Millis high = last[last.size() / 2];
  return last.size() % 2 == 1 ? high : (last[last.size() / 2 - 1] + high) / 2;
}

bool is_final_name(const std::string& name) {
  const auto state = model::run_state_named(name);
  return state && model::is_final(*state);
}

}  // namespace

void ExpectCheck::learn(const model::JobVersionRow& version) {
  const std::pair key{version.job, version.version};
  const auto before = rules_.find({version.job, version.version - 1});
  const std::string length_before = before == rules_.end() ? "" : before->second.longer_than;
  if (version.definition == nullptr) {
    if (before != rules_.end()) rules_[key] = before->second;
    return;
  }
  const model::JobRules& rules = version.definition->rules;
  const bool is_other = version.version > 1 && rules.expect_longer_than != length_before;
  if (is_other || !goes_one_by_one(rules)) changing_.insert(version.job);
  if (rules.expect_start_within <= Millis{0} && rules.expect_finish_by.empty() &&
      rules.expect_longer_than.empty()) {
    return;
  }
  rules_[key] = {rules.expect_start_within, rules.expect_finish_by, rules.expect_longer_than,
                 rules.schedule.time_zone};
}

Result<void> ExpectCheck::read_terms() {
  const auto rows = sources_.reader.late_terms();
  if (!rows) return fail(rows.error());
  terms_.emplace();
  for (const LateRow& row : *rows) terms_->insert(row.epoch);
  return {};
}

Result<ExpectCheck::Known*> ExpectCheck::known_of(JobId job, bool anew) {
  Known& known = known_[job];
  if (known.is_read && !anew) return &known;
  const auto rows = sources_.reader.late_of(job);
  if (!rows) return fail(rows.error());
  known.is_read = true;
  for (const LateRow& row : *rows) {
    const std::int64_t tick = row.run == RunId{} && row.tick ? to_ms(*row.tick) : 0;
    known.told.insert_or_assign(Key{row.run, tick, row.what}, row);
  }
  return &known;
}

/// What was told while the run had not ended may have been met all the same: its worker said so later.
bool ExpectCheck::was_open(const Known& known, const Key& key, bool before_start) {
  const LateRow& row = known.told.at(key);
  if (row.due && row.told < *row.due) return false;
  if (before_start) return row.was == "waiting" || row.was == "queued";
  return !is_final_name(row.was);
}

Result<void> ExpectCheck::expect(JobId job, const Key& key, bool is_met, bool may_be_told,
                                 const std::string& words) {
  ++check_.planned;
  auto known = known_of(job, false);
  if (!known) return fail(known.error());
  if (!is_met && !(*known)->told.contains(key)) known = known_of(job, true);
  if (!known) return fail(known.error());
  const bool is_told = (*known)->told.contains(key);
  if (is_told) ++check_.fired;
  if (!is_met && !is_told) miss(check_, fmt::format("{}: it is told to nobody", words));
  const bool before_start = std::get<ToldOnce>(key) == ToldOnce::StartWithin;
  if (is_told && is_met && !(may_be_told && was_open(**known, key, before_start))) {
    wrong(check_, fmt::format("{}: it was met, and is told", words));
  }
  return {};
}

std::optional<WallTime> ExpectCheck::finish_by(const Rules& rules, WallTime tick) {
  auto found = zones_.find(rules.zone);
  if (found == zones_.end()) {
    auto zone = sources_.zones(rules.zone);
    found = zones_.emplace(rules.zone, zone ? *zone : nullptr).first;
  }
  if (found->second == nullptr || rules.finish_by.size() != 5) return std::nullopt;
  const model::ZoneRules& zone = *found->second;
  const std::int64_t clock = std::stoi(rules.finish_by.substr(0, 2)) * 3600 +
                             std::stoi(rules.finish_by.substr(3, 2)) * 60;
  const std::int64_t utc = floor_div(to_ms(tick), 1000);
  const std::int64_t today = floor_div(utc + offset_at(zone, utc), kDaySeconds);
  for (std::int64_t day = today - 1; day <= today + 2; ++day) {
    const WallTime at = wall_from_ms(shown_at(zone, day * kDaySeconds + clock) * 1000);
    if (at > tick) return at;
  }
  return std::nullopt;
}

Result<void> ExpectCheck::look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  const auto found = rules_.find({run.job, run.version});
  if (found == rules_.end() || store::is_of_one_off(run) || !model::is_final(run.progress.state)) return {};
  if (!terms_) {
    if (auto read = read_terms(); !read) return read;
  }
  if (!terms_->contains(run.progress.epoch)) {
    if (auto read = read_terms(); !read) return read;  // a Term that began meanwhile
  }
  if (!terms_->contains(run.progress.epoch)) return {};
  const Rules& rules = found->second;
  const model::RunProgress& at = run.progress;
  Begun begun{at.dispatched, at.dispatched};
  AttemptNo lowest = at.attempt;
  for (const model::AttemptRow& row : earlier) {
    if (!row.dispatched) continue;
    begun.earliest = std::min(begun.earliest.value_or(*row.dispatched), *row.dispatched);
    if (row.attempt < lowest || !begun.first) begun.first = row.dispatched;
    lowest = std::min(lowest, row.attempt);
  }
  if (rules.start_within > Millis{0}) {
    const bool is_child = run.kind == model::RunKind::Child;  // its logical time is its parent's
    const WallTime due = (is_child ? run.recorded : run.scheduled) + rules.start_within;
    const bool one = begun.earliest && *begun.earliest <= due, other = begun.first && *begun.first <= due;
    if (one == other) {  // else the clock was set back between the attempts, and both may be said
      auto looked = expect(run.job, {run.id, 0, ToldOnce::StartWithin}, one, true,
                           fmt::format("{} is expected to start by {}", words_of(run.id),
                                       format_moment(due)));
      if (!looked) return looked;
    }
  }
  const auto due = run.tick ? finish_by(rules, *run.tick) : std::nullopt;
  if (!rules.finish_by.empty() && due) {
    const bool is_met = at.state == RunState::Succeeded && at.ended && *at.ended <= *due;
    auto looked = expect(run.job, {run.id, 0, ToldOnce::FinishBy}, is_met, true,
                         fmt::format("{} is expected to succeed by {}", words_of(run.id),
                                     format_moment(*due)));
    if (!looked) return looked;
  }
  return rules.longer_than.empty() ? Result<void>() : look_at_length(run, rules, begun);
}

Result<void> ExpectCheck::look_at_length(const model::Run& run, const Rules& rules, const Begun& begun) {
  const Key key{run.id, 0, ToldOnce::LongerThan};
  auto known = known_of(run.job, false);
  if (!known) return fail(known.error());
  Known& job = **known;
  const auto longer = model::longer_than_from_text(rules.longer_than);
  if (!longer) return {};
  const model::RunProgress& at = run.progress;
  const auto length = [&](std::optional<WallTime> from) {
    return from && at.ended ? *at.ended - *from : Millis{0};
  };
  const Millis longest = length(begun.earliest), other = length(begun.first);
  const std::string words = fmt::format("{} is expected to take no longer than {}", words_of(run.id),
                                        rules.longer_than);
  if (longer->thousandths == 0) {
    const bool is_met = longest <= longer->most;
    if (is_met != (other <= longer->most)) return {};  // the clock was set back between the attempts
    return expect(run.job, key, is_met, true, words);
  }
  const bool is_beside = job.last_end && begun.earliest && *begun.earliest < *job.last_end;
  if (is_beside || begun.earliest != begun.first) job.is_doubtful = true;
  if (at.ended) job.last_end = std::max(job.last_end.value_or(*at.ended), *at.ended);
  // Runs come by their ids. One that ended before another of a lower id counted for that one too.
  if (at.ended) std::erase_if(job.suspects, [&](const Suspect& one) { return *at.ended <= one.ended; });
  const bool is_judged = !job.is_doubtful && !changing_.contains(run.job) && at.ended;
  if (is_judged && job.last.size() >= model::kPaceLeast) {
    const Millis limit{middle_of(job.last).count() * longer->thousandths / 1000};
    auto looked = compare_length(run, key, std::min(longest, other) <= limit, words);
    if (!looked) return looked;
  }
  if (const auto told = job.told.find(key); told != job.told.end()) {
    const bool was_shorter = std::max(longest, other) <= told->second.limit;
    if (was_shorter && !was_open(job, key, false)) {
      wrong(check_, fmt::format("{}: it did, and is told", words));
    }
  }
  if (at.state != RunState::Succeeded || !begun.earliest || !at.ended) return {};
  ++job.successes;
  job.last.push_back(std::max(other, Millis{0}));
  if (job.last.size() > model::kPaceKept) job.last.pop_front();
  return {};
}

Result<void> ExpectCheck::compare_length(const model::Run& run, const Key& key, bool is_met,
                                         const std::string& words) {
  auto known = known_of(run.job, false);
  if (known && !is_met && !(*known)->told.contains(key)) known = known_of(run.job, true);
  if (!known) return fail(known.error());
  Known& job = **known;
  const bool is_told = job.told.contains(key), is_sure = job.last.size() == model::kPaceKept;
  if (is_sure) ++check_.planned;
  if (is_sure && is_told) ++check_.fired;
  if (!is_met && !is_told) {
    job.suspects.push_back({*run.progress.ended, is_sure, false, words + ": it is told to nobody"});
  }
  if (is_sure && is_met && is_told && !was_open(job, key, false)) {
    job.suspects.push_back({*run.progress.ended, true, true, words + ": it was met, and is told"});
  }
  return {};
}

Result<void> ExpectCheck::look_at_gaps(const model::Job& job,
                                       const std::vector<model::JobVersionRow>& versions,
                                       const std::optional<std::vector<model::Gap>>& gaps,
                                       std::optional<WallTime> since) {
  for (const model::JobVersionRow& version : versions) learn(version);
  const bool expects = std::ranges::any_of(versions, [&](const model::JobVersionRow& version) {
    return rules_.contains({job.id, version.version});
  });
  if (!expects || !gaps) return {};
  if (!terms_) {
    if (auto read = read_terms(); !read) return read;
  }
  for (const model::Gap& gap : *gaps) {
    const auto rules = rules_.find({job.id, gap.version});
    const bool is_left_out = gap.reason == model::Reason::CalendarEdited || (since && gap.from < *since);
    if (rules == rules_.end() || is_left_out || !terms_->contains(gap.epoch)) continue;
    const std::string words = fmt::format("job \"{}\": its tick {}, which did not fire", job.name,
                                          format_moment(gap.from));
    const std::int64_t tick = to_ms(gap.from);
    if (rules->second.start_within > Millis{0}) {
      auto looked = expect(job.id, {RunId{}, tick, ToldOnce::StartWithin}, false, false,
                           words + ", did not start");
      if (!looked) return looked;
    }
    if (!finish_by(rules->second, gap.from)) continue;
    auto looked = expect(job.id, {RunId{}, tick, ToldOnce::FinishBy}, false, false,
                         words + ", did not succeed");
    if (!looked) return looked;
  }
  const auto known = known_of(job.id, false);
  if (!known) return fail(known.error());
  for (const auto& [key, row] : (*known)->told) {
    if (row.run != RunId{} || !row.tick || row.was != model::kWasPaused) continue;
    const bool was_paused = std::ranges::any_of(versions, [at = *row.tick](const auto& version) {
      return !version.enabled && version.valid_from <= at && (!version.valid_to || at <= *version.valid_to);
    });
    if (was_paused) continue;
    const auto rewinds = sources_.reader.rewinds();
    if (!rewinds) return fail(rewinds.error());
    const bool is_given_back = std::ranges::any_of(
        *rewinds, [at = *row.tick, epoch = row.epoch](const store::PastRewind& rewind) {
          return epoch < rewind.epoch && at > rewind.to;  // by a clock that was ahead
        });
    if (!is_given_back) {
      wrong(check_, fmt::format("job \"{}\": its tick {} is told as paused, but the job was not", job.name,
                                format_moment(*row.tick)));
    }
  }
  return {};
}

Result<void> ExpectCheck::judge() {
  for (auto& [id, job] : known_) {
    if (job.suspects.empty()) continue;
    const auto pace = sources_.reader.pace_of(id);
    if (!pace) return fail(pace.error());
    const bool has_all = *pace && (*pace)->successes == job.successes;
    for (const Suspect& one : job.suspects) {
      if (!one.is_sure && !has_all) continue;
      one.is_wrong ? wrong(check_, one.words) : miss(check_, one.words);
    }
  }
  return {};
}

}  // namespace rota::master::verify
