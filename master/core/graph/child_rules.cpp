#include "master/core/graph/child_rules.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "common/base/utf8.h"
#include "master/core/admission/firing.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/memory_rules.h"

namespace rota::master::core {

using model::ChildKey;
using model::ChildRow;
using model::NamedChild;
using model::OwedChildren;
using model::Reason;
using model::RunState;

namespace {

constexpr std::size_t kNamersTold = 5;
/// A circle is looked for among so many jobs.
constexpr std::size_t kLookedThrough = 10'000;

bool has_failed(RunState state) {
  return state == RunState::Failed || state == RunState::TimedOut || state == RunState::Lost ||
         state == RunState::KillFailed;
}

bool calls_for(ChildKey key, RunState ended) {
  switch (key) {
    case ChildKey::Success: return ended == RunState::Succeeded;
    case ChildKey::Failure: return has_failed(ended);
    case ChildKey::End: return model::is_final(ended) && ended != RunState::Skipped;
  }
  return false;
}

const std::vector<std::string>& names_of(const model::JobRules& rules, ChildKey key) {
  return key == ChildKey::Success ? rules.on_success
         : key == ChildKey::Failure ? rules.on_failure
                                    : rules.on_end;
}

constexpr ChildKey kKeys[] = {ChildKey::Success, ChildKey::Failure, ChildKey::End};

struct Admission {
  OverlapChoice choice;
  std::string skipped_for;
};

Admission skip_for(Reason reason, std::string why) {
  return {{OverlapChoice::Kind::Skip, reason}, std::move(why)};
}

/// Like any other run, except that a pause and a freeze keep it from beginning: nobody asked for it now.
Admission admit(Context& ctx, const JobEntry& job, std::int32_t depth) {
  if (depth > model::kDeepestChild) {
    return skip_for(Reason::ChildTooDeep, fmt::format("{} runs below its root", depth));
  }
  if (job.row.state == model::JobState::Paused) {
    const model::Job row = job.row.as_row();
    return skip_for(Reason::JobPaused, "paused by " + row.state_by +
                                          (row.state_why.empty() ? "" : ": " + row.state_why));
  }
  if (const std::string over = why_over(job); !over.empty()) return skip_for(Reason::JobPaused, over);
  if (const model::Freeze* freeze = ctx.state.freezes().covering(job.row.space(), ctx.at)) {
    return skip_for(Reason::Frozen, std::to_string(freeze->id));
  }
  Admission own{overlap_of(ctx.state, job, model::RunKind::Child), {}};
  if (own.choice.kind == OverlapChoice::Kind::Skip) return own;
  const Reason beyond = why_no_firing(ctx.state, job.row.space(), ctx.at);
  if (beyond == Reason::None) return own;
  return skip_for(beyond, skipped_words(ctx.state, job.row.space(), beyond));
}

RunId begin_child(Context& ctx, JobEntry& job, const ChildRow& row, WallTime logical) {
  const std::string key = model::child_key(row.parent, row.name);
  const model::Parentage parentage = row.parentage();
  const Admission admission = admit(ctx, job, row.depth);
  Firing firing;
  firing.kind = model::RunKind::Child;
  firing.scheduled = logical;
  firing.principal = model::kChildPrincipal;
  firing.request_key = key;
  firing.parentage = &parentage;
  firing.skipped_for = admission.skipped_for;
  return begin_run(ctx, job, firing, admission.choice);
}

void make_child(Context& ctx, const OwedChildren& owed, const NamedChild& child) {
  ChildRow row;
  row.parent = owed.parent;
  row.name = child.name;
  row.key = child.key;
  row.root = owed.root;
  row.depth = owed.depth;
  row.ended = owed.ended;
  row.made = ctx.at;
  if (JobEntry* job = ctx.state.jobs().find_named(owed.space, child.name)) {
    row.run = begin_child(ctx, *job, row, owed.logical);
  } else {
    row.reason = Reason::NoSuchJob;
  }
  ++ctx.state.counters().children;
  ctx.out.changes.children.push_back(std::move(row));
}

bool fits_batch(const Context& ctx, const OwedChildren& owed) {
  const std::size_t made = ctx.out.changes.children.size();
  const auto most = static_cast<std::size_t>(ctx.state.options().children_at_most);
  return made == 0 || made + owed.children.size() <= most;
}

/// Looks for a way from a child back to the job itself, by what the saved jobs name now.
class CircleSearch {
 public:
  CircleSearch(const State& state, const std::string& space, const std::string& job)
      : state_(state), space_(space), job_(job) {}

  /// The names on the way, the job itself last; empty: there is none.
  std::vector<std::string> from(const std::string& child) {
    path_.clear();
    return goes_back(child) ? path_ : std::vector<std::string>();
  }
  bool is_too_large() const { return seen_.size() > kLookedThrough; }

 private:
  bool goes_back(const std::string& name) {
    path_.push_back(name);
    if (name == job_) return true;
    if (seen_.insert(name).second && !is_too_large() && path_.size() <= kLongestPath) {
      if (const JobEntry* job = state_.jobs().find_named(space_, name)) {
        for (const ChildKey key : kKeys) {
          for (const std::string& next : names_of(job->rules(), key)) {
            if (goes_back(next)) return true;
          }
        }
      }
    }
    path_.pop_back();
    return false;
  }

  static constexpr std::size_t kLongestPath = 1000;
  const State& state_;
  const std::string& space_;
  const std::string& job_;
  std::vector<std::string> path_;
  std::set<std::string> seen_;
};

std::string path_words(const std::string& job, const std::vector<std::string>& path) {
  std::string words = shown_text(job);
  for (const std::string& name : path) words += " -> " + shown_text(name);
  return words;
}

Error bad_children(std::string message) { return Error(ErrorCode::InvalidArgument, std::move(message)); }

std::set<std::string> all_names_of(const model::JobRules& rules) {
  std::set<std::string> names;
  for (const ChildKey key : kKeys) names.insert(names_of(rules, key).begin(), names_of(rules, key).end());
  return names;
}

/// A job that nobody names closes no circle but that with itself, nor does an edit without a new name.
std::optional<Error> why_circle(const State& state, const model::JobDefinition& definition,
                                const JobEntry* before) {
  const bool is_named = !state.jobs().parents_of(definition.space, definition.name).empty();
  std::set<std::string> known;
  if (before != nullptr) known = all_names_of(before->rules());
  CircleSearch search(state, definition.space, definition.name);
  for (const ChildKey key : kKeys) {
    for (const std::string& name : names_of(definition.rules, key)) {
      if (name != definition.name && (!is_named || known.contains(name))) continue;
      if (const auto path = search.from(name); !path.empty()) {
        return bad_children(fmt::format("{}: {} goes in a circle; take one of these names away", name_of(key),
                                        path_words(definition.name, path)));
      }
      if (search.is_too_large()) {
        return bad_children(fmt::format("{}: more than {} jobs hang together by child jobs; use fewer",
                                        name_of(key), kLookedThrough));
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<NamedChild> children_after(const model::JobRules& rules, RunState ended) {
  std::vector<NamedChild> out;
  for (const ChildKey key : kKeys) {
    if (!calls_for(key, ended)) continue;
    for (const std::string& name : names_of(rules, key)) out.push_back({key, name});
  }
  return out;
}

void owe_children(Context& ctx, const RunEntry& run) {
  if (!model::names_children(run.rules())) return;
  OwedChildren owed;
  owed.ended = run.progress().state;
  owed.children = children_after(run.rules(), owed.ended);
  if (owed.children.empty()) return;
  const model::Parentage& own = run.progress().parentage();
  owed.parent = run.id();
  owed.root = own.depth > 0 ? own.root : run.id();
  owed.depth = own.depth + 1;
  owed.space = run.job().row.space();
  owed.logical = run.row().tick.value_or(run.row().scheduled);
  ctx.state.children().owe(std::move(owed), false);
}

void make_children(Context& ctx) {
  ChildTable& table = ctx.state.children();
  while (!table.empty() && fits_batch(ctx, table.first().row)) {
    const ChildTable::Owed owed = table.take_first();
    for (const NamedChild& child : owed.row.children) make_child(ctx, owed.row, child);
    if (owed.is_stored) ctx.out.changes.children_done.push_back(owed.row.parent);
  }
}

void store_owed_children(Context& ctx) {
  ctx.state.children().store_rest(
      [&](const OwedChildren& row) { ctx.out.changes.children_owed.push_back(row); });
}

std::optional<Error> why_no_children(const State& state, const model::JobDefinition& definition,
                                     const JobEntry* before) {
  const model::JobRules& rules = definition.rules;
  if (!model::names_children(rules)) return std::nullopt;
  if (!state.children().may_begin()) {
    return Error(ErrorCode::Unavailable,
                 "on_success, on_failure, on_end: a master of an older version is registered, or was a "
                 "moment ago; it would begin no child jobs. Try again when all are new");
  }
  for (const ChildKey key : kKeys) {
    for (const std::string& name : names_of(rules, key)) {
      if (name == definition.name || state.jobs().find_named(definition.space, name) != nullptr) continue;
      return bad_children(fmt::format("{}: there is no job {} in namespace {}; apply it first, or in the "
                                      "same files", name_of(key), quoted_text(name),
                                      quoted_text(definition.space)));
    }
  }
  return why_circle(state, definition, before);
}

std::string named_by(const State& state, const std::string& space, const std::string& name) {
  const IdSet<JobId>& users = state.jobs().parents_of(space, name);
  std::string words;
  std::size_t told = 0;
  for (auto at = users.begin(); at != users.end() && told < kNamersTold; ++at, ++told) {
    words += (told == 0 ? "" : ", ") + state.find_job(*at)->row.name;
  }
  return users.size() > told ? fmt::format("{} and {} more", words, users.size() - told) : words;
}

}  // namespace rota::master::core
