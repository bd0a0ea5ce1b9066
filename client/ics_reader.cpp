#include "client/ics_reader.h"

#include <fmt/format.h>
#include <libical/ical.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "common/base/utf8.h"

namespace rota::client {
namespace {

using model::Day;
using model::DayRange;

constexpr std::size_t kMostEvents = 100'000;

struct FreeComponent {
  void operator()(icalcomponent* component) const { icalcomponent_free(component); }
};
struct FreeIterator {
  void operator()(icalrecur_iterator* walk) const { icalrecur_iterator_free(walk); }
};

std::optional<Day> day_of(const icaltimetype& time) {
  const std::chrono::year_month_day date{std::chrono::year{time.year},
                                         std::chrono::month(static_cast<unsigned>(time.month)),
                                         std::chrono::day(static_cast<unsigned>(time.day))};
  if (icaltime_is_null_time(time) || !date.ok()) return std::nullopt;
  return Day{date};
}

std::string text_of(const char* text) { return text == nullptr ? "" : shown_text(text); }

/// One VEVENT.
class Event {
 public:
  Event(icalcomponent* component, const DayRange& range, IcsFile& into)
      : component_(component), range_(range), into_(into),
        summary_(text_of(icalcomponent_get_summary(component))) {}

  Result<void> read() {
    if (icalcomponent_get_status(component_) == ICAL_STATUS_CANCELLED) return {};
    const icaltimetype start = icalcomponent_get_dtstart(component_);
    const auto first = day_of(start);
    if (!first) {
      return fail(ErrorCode::InvalidArgument, fmt::format("event '{}': it has no DTSTART", summary_));
    }
    if (!is_whole_days(start)) {
      into_.left_out.push_back(fmt::format("{} '{}'", model::day_to_text(*first), summary_));
      return {};
    }
    length_ = length_from(*first);
    skip_exceptions();
    add(*first);
    add_repeats(start);
    add_listed();
    return {};
  }

 private:
  /// A DATE, or a time of day at midnight that lasts whole days.
  bool is_whole_days(const icaltimetype& start) const {
    if (start.is_date != 0) return true;
    const int seconds = icaldurationtype_as_int(icalcomponent_get_duration(component_));
    return start.hour == 0 && start.minute == 0 && start.second == 0 && seconds > 0 && seconds % 86'400 == 0;
  }

  /// DTEND is the day after the last one; without it an event is one day.
  std::chrono::days length_from(Day first) const {
    const auto after = day_of(icalcomponent_get_dtend(component_));
    return after && *after > first ? *after - first : std::chrono::days{1};
  }

  void skip_exceptions() {
    for (icalproperty* at = icalcomponent_get_first_property(component_, ICAL_EXDATE_PROPERTY); at != nullptr;
         at = icalcomponent_get_next_property(component_, ICAL_EXDATE_PROPERTY)) {
      if (const auto day = day_of(icalproperty_get_exdate(at))) excepted_.insert(*day);
    }
  }

  void add_listed() {
    for (icalproperty* at = icalcomponent_get_first_property(component_, ICAL_RDATE_PROPERTY); at != nullptr;
         at = icalcomponent_get_next_property(component_, ICAL_RDATE_PROPERTY)) {
      if (const auto day = day_of(icalproperty_get_rdate(at).time)) add(*day);
    }
  }

  void add_repeats(const icaltimetype& start) {
    for (icalproperty* at = icalcomponent_get_first_property(component_, ICAL_RRULE_PROPERTY); at != nullptr;
         at = icalcomponent_get_next_property(component_, ICAL_RRULE_PROPERTY)) {
      const std::unique_ptr<icalrecur_iterator, FreeIterator> walk(
          icalrecur_iterator_new(icalproperty_get_rrule(at), start));
      for (std::size_t i = 0; walk != nullptr && i < kMostEvents; ++i) {
        const auto day = day_of(icalrecur_iterator_next(walk.get()));
        if (!day || *day > range_.last) break;
        add(*day);
      }
    }
  }

  void add(Day first) {
    const DayRange days{std::max(first, range_.first),
                        std::min(first + length_ - std::chrono::days{1}, range_.last)};
    if (excepted_.contains(first) || days.last < days.first) return;
    into_.days.push_back({days, summary_});
  }

  icalcomponent* component_;
  const DayRange& range_;
  IcsFile& into_;
  const std::string summary_;
  std::chrono::days length_{1};
  std::set<Day> excepted_;
};

}  // namespace

Result<IcsFile> read_ics(std::string_view text, const DayRange& range) {
  icalerror_set_errors_are_fatal(0);
  const std::unique_ptr<icalcomponent, FreeComponent> root(
      icalparser_parse_string(std::string(text).c_str()));
  if (root == nullptr || icalcomponent_count_components(root.get(), ICAL_ANY_COMPONENT) == 0) {
    return fail(ErrorCode::InvalidArgument,
                "it is no iCalendar file: BEGIN:VCALENDAR with events is missing");
  }
  IcsFile out;
  constexpr icalcomponent_kind kEvent = ICAL_VEVENT_COMPONENT;
  for (icalcomponent* each = icalcomponent_get_first_component(root.get(), kEvent); each != nullptr;
       each = icalcomponent_get_next_component(root.get(), kEvent)) {
    if (auto read = Event(each, range, out).read(); !read) return fail(read.error());
  }
  std::ranges::sort(out.days, [](const IcsDays& a, const IcsDays& b) {
    return std::pair(a.days.first, a.days.last) < std::pair(b.days.first, b.days.last);
  });
  out.days.erase(std::unique(out.days.begin(), out.days.end()), out.days.end());
  return out;
}

}  // namespace rota::client
