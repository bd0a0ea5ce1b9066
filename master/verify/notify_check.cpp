#include "master/verify/notify_check.h"

#include "master/verify/findings.h"

namespace rota::master::verify {

using model::Happening;
using model::RunState;

namespace {

constexpr std::int32_t kNotificationPage = 1000;

std::optional<Happening> told_of(RunState state) {
  switch (state) {
    case RunState::Failed:
    case RunState::TimedOut:
    case RunState::KillFailed:
      return Happening::Failed;
    case RunState::Lost:
      return Happening::Lost;
    default:
      return std::nullopt;
  }
}

}  // namespace

void NotifyCheck::learn(const model::JobVersionRow& version) {
  const std::pair key{version.job, version.version};
  if (version.definition != nullptr) {
    if (!version.definition->rules.notify.empty()) named_[key] = version.definition->rules.notify;
    return;
  }
  const auto before = named_.find({version.job, version.version - 1});
  if (before != named_.end()) named_[key] = before->second;
}

Result<void> NotifyCheck::read_more() {
  while (true) {
    const auto page = sources_.reader.notifications_after(read_through_, kNotificationPage);
    if (!page) return fail(page.error());
    for (const model::Notification& row : *page) {
      read_through_ = row.id;
      if (row.what == Happening::Combined) combined_[row.receiver] += row.count;
      if (row.run == RunId{} || (row.what != Happening::Failed && row.what != Happening::Lost)) continue;
      if (told_.insert({row.run, row.what, row.receiver}).second) continue;
      wrong(check_,
            fmt::format("{}: receiver {} is told twice that it ended", name_of(row.run), row.receiver));
    }
    if (page->size() < static_cast<std::size_t>(kNotificationPage)) return {};
  }
}

/// A run that has ended since the rows were read has its row by now.
Result<bool> NotifyCheck::is_told(const Told& told) {
  if (told_.contains(told)) return true;
  if (auto read = read_more(); !read) return fail(read.error());
  return told_.contains(told);
}

Result<void> NotifyCheck::look_at(const model::Run& run) {
  if (!std::exchange(has_begun_, true)) {
    const auto rows = sources_.reader.receivers();
    if (!rows) return fail(rows.error());
    for (const model::ReceiverRow& row : *rows) receivers_[row.epoch].push_back(row.rule);
    if (auto read = read_more(); !read) return read;
  }
  if (receivers_.empty() || !model::is_final(run.progress.state)) return {};
  const auto what = told_of(run.progress.state);
  for (auto at = told_.lower_bound({run.id, Happening{}, ""});
       at != told_.end() && std::get<0>(*at) == run.id; ++at) {
    ++check_.planned;
    if (what == std::get<1>(*at)) continue;
    wrong(check_, fmt::format("{}: receiver {} is told that it has {}, but it ended as {}", name_of(run.id),
                              std::get<2>(*at), name_of(std::get<1>(*at)), name_of(run.progress.state)));
  }
  const auto known = receivers_.find(run.progress.epoch);
  if (!what || known == receivers_.end() || store::is_of_one_off(run)) return {};
  const auto named = named_.find({run.job, run.version});
  for (const model::ReceiverRule& receiver : known->second) {
    const bool is_wanted =
        model::is_told(receiver, named == named_.end() ? std::vector<std::string>{} : named->second, *what);
    if (!is_wanted) continue;
    const auto told = is_told({run.id, *what, receiver.name});
    if (!told) return fail(told.error());
    if (*told) continue;
    ++missing_[receiver.name];
    example_.try_emplace(receiver.name, run.id);
  }
  return {};
}

/// One that stands for others does not name them.
void NotifyCheck::judge() {
  for (const auto& [receiver, count] : missing_) {
    if (count <= combined_[receiver]) continue;
    miss(check_, fmt::format("{}: receiver {} is not told how it ended; {} such runs, {} counted together",
                             name_of(example_.at(receiver)), receiver, count, combined_[receiver]));
  }
}

}  // namespace rota::master::verify
