/**
 * Calendars: which days are working days. Jobs name them in their schedules. The methods stand in JobService
 * (job.thrift).
 */
include "common.thrift"

namespace cpp rota.thrift
namespace py rota.calendar

/**
 * A day is open when it is in `included`; else closed when it is in `excluded`; else its weekday decides. Days are
 * written "2026-12-31", ranges of days "2026-12-24..2026-12-31".
 */
struct Calendar {
  1: string space = "default",
  /** Letters, digits, '_', '-', '.'; at most 64. */
  2: string name,
  3: string description,
  /** Of `hours`. */
  4: string time_zone = "UTC",
  /** Weekdays: "mon-fri", "mon,wed,sat-sun". */
  5: string days = "mon-sun",
  6: list<string> excluded,
  7: list<string> included,
  /** Open days that are shorter: a day or range, and "09:30-13:00". */
  8: map<string, string> hours,
  /** A range of days; empty: all. */
  9: string covers,
  /** What counts outside of `covers`: "days" (the weekdays alone) or "hold" (nothing fires). */
  10: string beyond = "days"
}

struct CalendarVersion {
  /** From 1; it goes on when the name of a deleted calendar is used again. */
  1: i32 version,
  /** It counts for planned moments from here on; the first one also for all before. */
  2: i64 from_ms,
  3: i64 changed_ms,
  4: string changed_by,
  /** With this version the calendar ended; `why` says why. */
  5: bool deleted,
  6: string why,
  7: Calendar calendar
}

/** A saved calendar. */
struct CalendarInfo {
  1: CalendarVersion newest,
  /** Set by get_calendar: all versions, newest first, without their calendars; at most 100. */
  2: list<CalendarVersion> versions
}

/** One calendar to create or edit. */
struct CalendarEdit {
  1: Calendar calendar,
  /** The version from which this edit was made; 0: it must be new; absent: any version. */
  2: optional i32 expected_version
}

/** A saved job with entries that fire no more: its calendars leave no day open for them. */
struct JobOver {
  1: string name,
  /** Their places in its schedule, from 0. */
  2: list<i32> entries,
  /** Other entries of it go on. */
  3: bool others_fire
}

/** What an edit of a calendar means to the jobs that use it. */
struct JobsOver {
  /** Those that it leaves with entries that can never fire again under the versions then in force; at most 20. */
  1: list<JobOver> jobs,
  /** How many there are, of those that were looked at. */
  2: i32 count,
  /** So many of the jobs that use the calendar were looked at; less than `users` when there are very many. */
  3: i32 looked_at,
  4: i32 users
}

struct CalendarEdited {
  1: i32 version,
  /** "created", "changed", "unchanged" or "deleted". */
  2: string what,
  /** From when on this version counts: an edit at least 10 s ahead. A dry run says about when. */
  3: i64 from_ms,
  4: optional common.RotaError error,
  /** Of what is "changed", by the calendars of this call together. Absent: not known, since the leader did not
   * answer a dry run, or an older master does not say it. */
  5: optional JobsOver jobs_over,
  /** Where the calendar is refused: each problem by itself, beginning with its key. */
  6: optional list<string> problems
}

/** A calendar that jobs use, and that covers no day from some day within 60 days on. Listed with the first to end first. */
struct CalendarEnding {
  1: string space,
  2: string name,
  /** The last day that it covers: "2026-12-31". */
  3: string last_day,
  /** The end of that day, in the calendar's zone. */
  4: i64 ends_ms,
  /** What counts after it: "days" (the weekdays alone) or "hold" (nothing fires). */
  5: string beyond,
  /** So many saved jobs use it. */
  6: i32 jobs
}

struct PreviewRequest {
  1: string space = "default",
  /** A saved calendar; empty: `calendar`. */
  2: string name,
  3: optional Calendar calendar,
  /** At most 3,660 days. */
  4: string first_day,
  5: string last_day
}

/** What a calendar says of a day. A day on which another version comes into force has a row for each. */
struct CalendarDay {
  1: string day,
  /** "open", "closed" or "held". */
  2: string answer,
  /** Which key decided it, in words. */
  3: string why,
  /** Of an open day that is shorter: "09:30-13:00". */
  4: string hours,
  5: i32 version,
  /** Set when this version comes into force in the course of that day. */
  6: optional i64 from_ms
}

/** A moment that a schedule would have without its calendars, and what they do about it. */
struct ClosedTime {
  1: i64 at_ms,
  /** "closed by calendar de: 2026-12-25, moved to 2026-12-28" */
  2: string why
}
