// What is refused, and what the refusal says.
#include "test/unit/cron/cron_cases.h"

using namespace rota;
using namespace rota::master::core;
using model::CronDialect;

namespace {

struct BadCase {
  const char* cron;
  const char* says;
};

constexpr BadCase kBad[] = {
    {"", "column 1: 0 fields are given; a cron has 5 fields"},
    {"*", "column 1: 1 field is given"},
    {"* * * *", "4 fields are given"},
    {"* * * * * * * *", "column 15: 8 fields are given"},
    {"0 12 ? * MON", "5 fields are given; a Quartz cron (with ?) needs the second"},
    {"60 * * * *", "column 1, minute: 60 is out of range (0 to 59)"},
    {"* 24 * * *", "column 3, hour: 24 is out of range (0 to 23)"},
    {"* * 0 * *", "column 5, day of month: 0 is out of range (1 to 31)"},
    {"* * 32 * *", "column 5, day of month: 32 is out of range (1 to 31)"},
    {"* * * 13 *", "column 7, month: 13 is out of range (1 to 12)"},
    {"* * * * 8", "column 9, day of week: 8 is out of range (0 to 7)"},
    {"0 0 0 ? * 0", "column 11, day of week: 0 is out of range (1 to 7)"},
    {"0 0 0 ? * 8", "column 11, day of week: 8 is out of range (1 to 7)"},
    {"60 * * * * *", "column 1, second: 60 is out of range"},
    {"0 0 0 1 1 ? 1969", "column 13, year: 1969 is out of range (1970 to 2199)"},
    {"0 0 0 1 1 ? 2030-2028", "year: the range 2030-2028 runs backwards"},
    {"1,,2 * * * *", "column 3, minute: a value is missing"},
    {"1, * * * *", "column 3, minute: a value is missing"},
    {"1- * * * *", "column 3, minute: a number is missing"},
    {"-1 * * * *", "column 1, minute: '-' is no number"},
    {"*/0 * * * *", "column 3, minute: a step of 0 is out of range (1 to 59)"},
    {"*/60 * * * *", "column 3, minute: a step of 60 is out of range"},
    {"*/ * * * *", "column 3, minute: a number is missing"},
    {"1/x * * * *", "column 3, minute: 'X' is no number"},
    {"*5 * * * *", "column 2, minute: '5' is not expected here"},
    {"x * * * *", "column 1, minute: 'X' is no number"},
    {"? * * * *", "a Quartz cron (with ?)"},
    {"? 0 0 * * ?", "column 1, second: '?' stands only in day of month or day of week"},
    {"0 0 0 ? * ?", "column 11, day of week: '?' stands in both day fields"},
    {"0 0 0 1,? * 2", "column 9, day of month: '?' stands alone"},
    {"0 0 0 15 * 2 2030", "column 12, day of week: Quartz reads only one of the day fields"},
    {"* * * FOO *", "column 7, month: 'FOO' is no name of a month (JAN to DEC)"},
    {"* * * * MON-FUN", "column 13, day of week: 'FUN' is no name of a day (SUN to SAT)"},
    {"* * * JANUARY *", "column 10, month: 'U' is not expected here"},
    {"* L * * *", "column 3, hour: 'L' is no number"},
    {"* * * * L", "column 9, day of week: L alone is Quartz's Saturday"},
    {"* * L-31 * *", "column 7, day of month: L-31 is beyond L-30"},
    {"* * 32W * *", "column 5, day of month: 32 is out of range"},
    {"* * 1-5W * *", "column 8, day of month: 'W' is not expected here"},
    {"* * * * 5#6", "column 9, day of week: after # stands 1 to 5"},
    {"* * * * 5#0", "after # stands 1 to 5"},
    {"* * 5#2 * *", "column 6, day of month: '#' is not expected here"},
    {"99999999999 * * * *", "column 1, minute: 999999 is out of range"},
    {"* * * * *;rm", "column 10, day of week: ';' is not expected here"},
    {"@daily", "1 field is given"},
    // never
    {"0 0 30 2 *", "column 5, day of month: this cron can never fire"},
    {"0 0 31 4,6,9,11 *", "can never fire"},
    {"0 0 0 29 2 ? 2027", "column 7, day of month: this cron can never fire"},
    {"0 0 0 30W 2 ?", "can never fire"},
    {"0 0 0 L-29 2 ?", "can never fire"},
};

}  // namespace

TEST_CASE("cron: bad input is refused with field, column and reason") {
  for (const auto& one : kBad) {
    const std::string text = one.cron;
    CAPTURE(text);
    const auto result = parse_cron(text);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::InvalidArgument);
    INFO(result.error().message);
    CHECK(result.error().message.find(one.says) != std::string::npos);
  }
}

TEST_CASE("cron: the dialect is guessed from '?' and the number of fields") {
  CHECK_FALSE(cron_of("0 0 * * 1").quartz);
  CHECK_FALSE(cron_of("0 0 0 * * 1").quartz);
  CHECK(cron_of("0 0 0 ? * 1").quartz);
  CHECK(cron_of("0 0 0 * * 1 2030").quartz);
  CHECK_FALSE(cron_of("0 0 0 * * 1 2030", CronDialect::Unix).quartz);
  CHECK(cron_of("0 0 0 * * 1", CronDialect::Quartz).quartz);
  CHECK_FALSE(parse_cron("0 0 * * 1", CronDialect::Quartz));
}

TEST_CASE("cron: minute or hour as a wildcard follows elapsed time") {
  for (const char* text : {"* * * * *", "*/5 * * * *", "0/5 * * * *", "0-59 2 * * *", "0 * * * *",
                           "0 */2 * * *", "0 0-23 * * *", "0 0 * * * *", "5,*/10 2 * * *"}) {
    CAPTURE(text);
    CHECK(cron_of(text).follows_elapsed_time);
  }
  for (const char* text : {"0 2 * * *", "0,30 1-5 * * *", "* 30 2 * * *", "10-50/10 2 * * *"}) {
    CAPTURE(text);
    CHECK_FALSE(cron_of(text).follows_elapsed_time);
  }
}

TEST_CASE("cron: any text is answered") {
  std::uint64_t state = 88172645463325252ull;
  const auto dice = [&state] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  constexpr std::string_view kAlphabet = "0123456789*/,-?LW# \tMONJAN@h";
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = round % 2 == 0 ? "" : "0 0 1 * *";
    const auto edits = 1 + dice() % 20;
    for (std::uint64_t i = 0; i < edits; ++i) {
      text.insert(dice() % (text.size() + 1), 1, kAlphabet[dice() % kAlphabet.size()]);
    }
    const auto cron = parse_cron(text);
    if (!cron) continue;
    ++accepted;
    CHECK(next_local_match(*cron, 0));
  }
  CHECK(accepted > 50);
}
