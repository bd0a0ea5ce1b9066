#include "master/page_rows.h"

namespace rota::master {

namespace {
constexpr Millis kBetween{2000};
}  // namespace

PageRowsRead read_page_rows(store::Reader& reader) {
  PageRowsRead out;
  store::RunQuery query;
  query.limit = kRowsOnPage;
  auto runs = reader.list_runs(query);
  auto jobs = runs ? reader.list_jobs(query.space, "", kRowsOnPage, "")
                   : Result<std::vector<store::JobRow>>(fail(runs.error()));
  if (!jobs) {
    out.trouble = jobs.error().message;
    return out;
  }
  std::vector<JobId> ids;
  for (const store::JobRow& row : *jobs) ids.push_back(row.job.id);
  auto newest = reader.newest_runs_of(ids);
  if (!newest) {
    out.trouble = newest.error().message;
    return out;
  }
  out.runs = std::move(*runs);
  out.jobs = std::move(*jobs);
  out.newest = std::move(*newest);
  return out;
}

void PageRows::start() {
  thread_ = std::jthread([this](std::stop_token stop) { loop(stop); });
}

void PageRows::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

std::shared_ptr<const PageRowsRead> PageRows::last() {
  std::scoped_lock lock(mutex_);
  asked_ = true;
  changed_.notify_all();
  return read_;
}

void PageRows::loop(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return asked_; })) {
    asked_ = false;
    lock.unlock();
    auto fresh = std::make_shared<const PageRowsRead>(read_page_rows(reader_));
    lock.lock();
    read_ = std::move(fresh);
    changed_.wait_for(lock, stop, kBetween, [] { return false; });
    if (stop.stop_requested()) return;
  }
}

}  // namespace rota::master
