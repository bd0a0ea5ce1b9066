// Calendars that a client sent, checked and compiled; and what a calendar says of the days of a range.
// Thread: any.
#pragma once

#include <calendar_types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/model/calendar.h"
#include "master/core/event.h"
#include "master/core/time/calendar_source.h"
#include "master/store/reader.h"

namespace rota::master::api {

/// An edit, without its token. InvalidArgument lists every problem that is found; `problems`, if given, gets
/// each by itself.
Result<core::ApplyCalendar> accept_calendar(const thrift::CalendarEdit& edit, const std::string& principal,
                                            std::vector<std::string>* problems = nullptr);

/// InvalidArgument names the key and what is wrong; `problems` as above.
Result<core::CalendarPtr> compile(const std::string& space, const model::Calendar& calendar,
                                  std::vector<std::string>* problems = nullptr);

/// The calendars that schedules name, read from the store, each once. Thread: one. The reader outlives it.
class StoredCalendars {
 public:
  explicit StoredCalendars(store::Reader& reader) : reader_(reader) {}

  /// For schedules of that namespace. This must outlive it.
  core::CalendarSource in(const std::string& space);
  /// Counts as if it were applied: of the same plan.
  void add_planned(const thrift::Calendar& calendar);
  /// Why the store could not be asked; empty: it could.
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  core::CalendarHistoryPtr look_up(const std::string& space, const std::string& name);

  store::Reader& reader_;
  std::map<std::pair<std::string, std::string>, core::CalendarHistoryPtr> known_;
  std::optional<Error> trouble_;
};

/// Of the versions of one calendar, oldest first, those of its present life: none before a deletion.
std::vector<model::CalendarRow> present_versions(std::vector<model::CalendarRow> rows);

/// What they say of each day from `first` to `last`. InvalidArgument: one of them cannot be read.
Result<std::vector<thrift::CalendarDay>> preview(const std::vector<model::CalendarRow>& versions,
                                                 model::Day first, model::Day last);

}  // namespace rota::master::api
