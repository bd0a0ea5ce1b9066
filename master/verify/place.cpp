#include "master/verify/place.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace rota::master::verify {
namespace {

/// The numbers between colons; empty when one is none, or below 0.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::int64_t number = 0;
    const auto [next, problem] = std::from_chars(at, end, number);
    if (problem != std::errc{} || number < 0) return {};
    out.push_back(number);
    if (next == end) return out;
    if (*next != ':') return {};
    at = next + 1;
  }
}

}  // namespace

std::string text_of(const Place& place) {
  if (!place.is_at_runs) return fmt::format("jobs:{}", place.job.value);
  const EpochMarks& at = place.epochs;
  return fmt::format("runs:{}:{}:{}:{}:{}", place.run.value, at.epoch.value, to_ms(at.older_last),
                     to_ms(at.first), to_ms(at.last));
}

Result<Place> place_from(const std::string& text) {
  Place out;
  if (text.empty()) return out;
  const bool is_jobs = text.starts_with("jobs:");
  out.is_at_runs = text.starts_with("runs:");
  const auto numbers = is_jobs || out.is_at_runs ? numbers_in(std::string_view(text).substr(5))
                                                 : std::vector<std::int64_t>{};
  if (is_jobs && numbers.size() == 1) {
    out.job = JobId{numbers[0]};
    return out;
  }
  if (out.is_at_runs && numbers.size() == 5) {
    out.run = RunId{numbers[0]};
    out.epochs = {Epoch{numbers[1]}, wall_from_ms(numbers[2]), wall_from_ms(numbers[3]),
                  wall_from_ms(numbers[4])};
    return out;
  }
  return fail(ErrorCode::InvalidArgument,
              fmt::format("\"{}\" is no place to go on from; an earlier verify names one",
                          text.substr(0, 100)));
}

}  // namespace rota::master::verify
