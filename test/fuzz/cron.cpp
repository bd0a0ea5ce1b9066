// The cron parser: its messages are valid UTF-8; ticks only go forward, and end.
#include "master/core/time/cron.h"

#include "common/base/utf8.h"
#include "test/fuzz/judge.h"

#include "common/model/schedule_text.h"
#include "common/time/zones.h"
#include "master/core/time/schedule.h"

using namespace rota;
using namespace rota::master::core;
using fuzz::demand;

namespace {

void follow(const CronExpression& cron) {
  static const auto zone = timezone::load_zone("Europe/Berlin");
  if (!zone) return;
  const WallTime begin = wall_from_ms(1'774'700'000'000);  // hours before a change to summer time
  WallTime last = begin;
  for (int i = 0; i < 8; ++i) {
    const auto next = next_after(cron, **zone, model::SkippedTime::RunAtEnd, model::RepeatedTime::Both, last);
    if (!next) return;
    demand(*next > last, "the next tick is later");
    last = *next;
    const auto count = count_matches(cron, **zone, model::SkippedTime::RunAtEnd, model::RepeatedTime::Both, begin, last, 100);
    demand(count == i + 1, "counted as they were walked");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > 1024) return 0;
  for (const auto dialect : {model::CronDialect::Guess, model::CronDialect::Unix, model::CronDialect::Quartz}) {
    const auto cron = parse_cron(text, dialect);
    if (cron) follow(*cron);
    if (!cron) demand(!is_utf8(text) || is_utf8(cron.error().message), "the reason is UTF-8", cron.error().message);
  }
  (void)model::schedule_from_text(text);
  return 0;
}
