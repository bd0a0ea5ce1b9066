#include "master/verify/start_check.h"

#include <algorithm>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "common/model/entry_text.h"
#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

constexpr std::int32_t kStartPage = 10'000;
constexpr std::size_t kKeysAtOnce = 500;

bool is_valid_at(const model::ScheduleEntry& entry, WallTime at) {
  return entry.start.value_or(at) <= at && at <= entry.end.value_or(at);
}

/// At any moment, or at this one.
bool has_entry(const model::JobVersionRow& version, std::optional<WallTime> at) {
  if (version.definition == nullptr) return false;
  return std::ranges::any_of(version.definition->rules.schedule.entries, [&](const std::string& line) {
    const auto entry = model::entry_from_text(line);
    return entry && entry->kind == model::EntryKind::WorkerStart && (!at || is_valid_at(*entry, *at));
  });
}

bool may_end_itself(const model::JobRules& rules) {
  return rules.firings > 0 || rules.until != model::Until::Never || rules.pause_after_failures > 0;
}

std::string name_of(const model::WorkerStart& start) {
  return fmt::format("start {} of worker {} at {}", shown_text(start.key.start), shown_text(start.key.worker),
                     format_moment(start.accepted));
}

}  // namespace

bool fires_surely(const model::JobVersionRow& version, const model::WorkerStart& start) {
  if (!version.enabled || !has_entry(version, start.accepted)) return false;
  // The clocks of two leaders may differ so much.
  if (start.accepted <= version.valid_from + kClockSkew) return false;
  if (version.valid_to && start.accepted + kClockSkew >= *version.valid_to) return false;
  const model::JobRules& rules = version.definition->rules;
  if (may_end_itself(rules) || rules.pool != start.pool) return false;
  // Which other handlers the worker knew then is not stored.
  if (version.definition->work.handler != "command") return false;
  return rules.route != model::RouteKind::Named || rules.worker == start.key.worker;
}

Result<void> StartCheck::read_starts() {
  auto rewinds = sources_.reader.rewinds();
  if (!rewinds) return fail(rewinds.error());
  rewinds_ = std::move(*rewinds);
  for (std::int64_t number = 0; !has_read_;) {
    const auto page = sources_.reader.starts_after(number, kStartPage);
    if (!page) return fail(page.error());
    for (const model::WorkerStart& start : *page) {
      number = start.number;
      starts_.emplace(start.key, start);
    }
    has_read_ = page->size() < static_cast<std::size_t>(kStartPage);
  }
  return {};
}

bool StartCheck::is_asked_for(const model::WorkerStart& start) const {
  return !request_.since || start.accepted >= *request_.since;
}

/// By a clock that was ahead; what was edited then is valid sooner now.
bool StartCheck::was_rewound(const model::WorkerStart& start) const {
  const Epoch epoch{start.number >> kIdCounterBits};
  return std::ranges::any_of(rewinds_, [&](const store::PastRewind& rewind) {
    return epoch < rewind.epoch && start.accepted > rewind.to;
  });
}

/// Its versions are read behind the starts: the leader goes on meanwhile, and may have edited it since.
Result<void> StartCheck::look_at_job(const model::Job& job,
                                     const std::vector<model::JobVersionRow>& versions) {
  const bool has_any = std::ranges::any_of(
      versions, [](const model::JobVersionRow& version) { return has_entry(version, std::nullopt); });
  if (!has_any) return {};
  if (auto read = read_starts(); !read) return read;
  const auto fresh = sources_.reader.versions_of(job.id);
  if (!fresh) return fail(fresh.error());
  std::vector<const model::WorkerStart*> due;
  for (const auto& each : starts_) {
    const model::WorkerStart& start = each.second;
    if (!is_asked_for(start) || was_rewound(start)) continue;
    const bool fires = std::ranges::any_of(*fresh, [&](const model::JobVersionRow& version) {
      return fires_surely(version, start);
    });
    if (fires) due.push_back(&start);
  }
  for (std::size_t first = 0; first < due.size(); first += kKeysAtOnce) {
    const auto end = std::min(first + kKeysAtOnce, due.size());
    if (auto looked = look_for_runs(job, {due.begin() + static_cast<std::ptrdiff_t>(first),
                                          due.begin() + static_cast<std::ptrdiff_t>(end)}); !looked) {
      return looked;
    }
  }
  return {};
}

Result<void> StartCheck::look_for_runs(const model::Job& job,
                                       const std::vector<const model::WorkerStart*>& starts) {
  std::vector<std::string> keys;
  for (const model::WorkerStart* start : starts) keys.push_back(model::start_key(job.id, start->key));
  const auto runs = sources_.reader.runs_of_keys(model::kStartPrincipal, keys);
  if (!runs) return fail(runs.error());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ++check_.planned;
    if (runs->contains(keys[i])) continue;
    const auto gone = is_gone(*starts[i]);
    if (!gone) return fail(gone.error());
    if (!*gone) miss(check_, fmt::format("job \"{}\": no run for {}", job.name, name_of(*starts[i])));
  }
  return {};
}

/// Its runs got their ids right behind its number.
Result<bool> StartCheck::is_gone(const model::WorkerStart& start) {
  const auto gone = sources_.reader.runs_gone_through();
  if (!gone) return fail(gone.error());
  return gone->value >= start.number;
}

Result<void> StartCheck::look_at_run(const model::Run& run, const std::vector<model::AttemptRow>& earlier) {
  if (run.kind != model::RunKind::WorkerStart) return {};
  if (auto read = read_starts(); !read) return read;
  const auto key = model::start_in(run.request_key);
  const auto say = [&](const std::string& what) {
    wrong(check_, fmt::format("run {}: {}", run.id.value, what));
  };
  if (!key || run.request_key != model::start_key(run.job, *key) || run.principal != model::kStartPrincipal) {
    say("it is of a worker start, and names none");
    return {};
  }
  if (run.progress.attempt > 0 && run.progress.worker.id != key->worker) {
    say(fmt::format("it ran on worker {}, and belongs to {}", shown_text(run.progress.worker.id),
                    shown_text(key->worker)));
  }
  for (const model::AttemptRow& row : earlier) {
    if (row.worker.id != key->worker) say(fmt::format("attempt {} was on another worker", row.attempt));
  }
  auto start = starts_.find(*key);
  if (start == starts_.end()) {  // it may be newer than what was read
    has_read_ = false;
    if (auto read = read_starts(); !read) return read;
    start = starts_.find(*key);
  }
  if (start == starts_.end()) {
    say("its start was never accepted");
  } else if (start->second.accepted != run.scheduled) {
    say(fmt::format("it is of {}, and has another moment", name_of(start->second)));
  }
  return {};
}

}  // namespace rota::master::verify
