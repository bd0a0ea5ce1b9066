// What `rota apply` would do with the jobs and with the calendars of its files: made by dry runs, shown,
// agreed to, carried out. One of each kind; apply.cpp goes through them. Thread: one.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "client/command/commands.h"
#include "client/file_places.h"

namespace rota::client {

class CalendarPlan {
 public:
  /// `jobs` of the same files: these are judged by their own plan.
  CalendarPlan(Desk& desk, std::vector<thrift::Calendar> calendars,
               const std::vector<thrift::JobDefinition>& jobs, std::vector<Origin> origins);

  bool empty() const { return edits_.empty(); }
  /// Asks the server. An exit status: anything but 0 was told.
  int make();
  bool changes() const;
  void show() const;
  /// Warns about jobs that would never fire again.
  void tell_of_jobs_over() const;
  /// For a person who will be asked next.
  void show_differences() const;
  /// The versions that the plan was made from, so that an edit in between is not overwritten.
  void expect_versions();
  /// What was done goes to `rows` and, for people, to stdout. An exit status: anything but 0 was told.
  int carry_out(nlohmann::json& rows);

 private:
  int complain_of_refusals(const std::vector<thrift::CalendarEdited>& answers) const;
  std::string over_words_of(std::size_t i, const thrift::CalendarEdited& answer) const;

  Desk& desk_;
  std::vector<thrift::CalendarEdit> edits_;
  std::map<std::string, std::set<std::string>> jobs_;  ///< by namespace: their names
  std::vector<Origin> origins_;                        ///< of each edit
  std::vector<thrift::CalendarEdited> plan_;
};

/// As CalendarPlan.
class JobPlan {
 public:
  /// `calendars` of the same files, which the jobs may name.
  JobPlan(Desk& desk, std::vector<thrift::JobDefinition> jobs,
          const std::vector<thrift::Calendar>& calendars, std::vector<Origin> origins);

  bool empty() const { return edits_.empty(); }
  int make();
  bool changes() const;
  void show() const;
  void show_differences() const;
  /// Warns about jobs that will be stored as requested but will never fire.
  void tell_of_past_moments() const;
  void expect_versions();
  int carry_out(nlohmann::json& rows);

 private:
  int complain_of_refusals(const std::vector<thrift::JobEdited>& answers) const;
  int complain_of_children() const;

  Desk& desk_;
  std::string circle_;                           ///< of child jobs in the files; empty: none
  std::vector<thrift::JobEdit> edits_;
  std::vector<thrift::JobEdited> plan_;
  std::vector<Origin> origins_;
};

}  // namespace rota::client
