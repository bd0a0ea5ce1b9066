#include "master/api/report_service.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/log.h"
#include "common/rpc/caller_rules.h"
#include "common/wire/worker_wire.h"
#include "master/api/edge.h"

namespace rota::master::api {
namespace {

constexpr std::size_t kMaxChunkBytes = 64u << 10;

Result<store::LogChunk> chunk_of(const thrift::LogChunk& in) {
  const bool known_stream = in.stream == 1 || in.stream == 2;
  if (!known_stream || in.attempt.run <= 0 || in.attempt.attempt <= 0 || in.offset < 0 ||
      in.dropped_before < 0 || in.crc32 < 0 || in.crc32 > 0xFFFFFFFFll) {
    return fail(ErrorCode::InvalidArgument, "a log chunk's attempt, stream, offset or CRC is wrong");
  }
  if (in.bytes.empty() || in.bytes.size() > kMaxChunkBytes) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("a log chunk of {} bytes; 1 to {} are allowed", in.bytes.size(),
                            kMaxChunkBytes));
  }
  store::LogChunk out;
  out.attempt = wire::from_wire(in.attempt);
  out.stream = in.stream == 1 ? store::LogStream::Out : store::LogStream::Err;
  out.offset = in.offset;
  out.bytes = in.bytes;
  out.crc32 = static_cast<std::uint32_t>(in.crc32);
  out.received = wall_from_ms(in.received_ms);
  out.dropped_before = in.dropped_before;
  return out;
}

// One malformed report must not stop the good ones of its batch.
std::vector<model::AttemptReport> good_reports(const Caller& caller,
                                               const thrift::ReportRequest& request) {
  std::vector<model::AttemptReport> out;
  out.reserve(request.reports.size());
  for (const thrift::Report& in : request.reports) {
    auto report = wire::from_wire(in);
    if (report) {
      out.push_back(std::move(*report));
    } else {
      log_warn("api", "a malformed report was not stored; its worker keeps it",
               {{"worker", request.worker.id},
                {"run", in.attempt.run},
                {"why", report.error().message},
                {"from", caller.address}});
    }
  }
  return out;
}

constexpr std::size_t kMostUsages = 1000;
constexpr std::int64_t kOldestFigureMs = 3'600'000;

/// By this master's clock: a worker says how old its figures are, because its own clock may be
/// wrong.
WallTime sampled_at(WallTime now, std::int64_t age_ms) {
  return now - Millis{std::clamp<std::int64_t>(age_ms, 0, kOldestFigureMs)};
}

/// Beyond a day it does not matter by how much.
Millis clock_offset(std::int64_t clock_ms, WallTime now) {
  constexpr std::int64_t kDayMs = 86'400'000;
  const std::int64_t here = to_ms(now);
  return Millis{std::clamp(clock_ms, here - kDayMs, here + kDayMs) - here};
}

core::RenewAsked renewal_of(const thrift::RenewRequest& request, WallTime now) {
  core::RenewAsked event;
  event.worker = wire::from_wire(request.worker);
  if (request.__isset.clock_ms) event.clock_offset = clock_offset(request.clock_ms, now);
  if (!request.__isset.vitals) return event;
  event.vitals = wire::from_wire(request.vitals);
  event.vitals->sampled = sampled_at(now, request.vitals_age_ms);
  event.has_part_of_usage = request.__isset.has_part_of_usage && request.has_part_of_usage;
  for (const thrift::AttemptUsage& in : request.usage) {
    if (event.usage.size() == kMostUsages) break;
    event.usage.push_back(wire::from_wire(in));
    event.usage.back().sampled = sampled_at(now, in.usage.age_ms);
  }
  return event;
}

}  // namespace

void ReportServiceHandler::report(const Caller& caller, std::vector<thrift::AttemptKey>& out,
                                  const thrift::ReportRequest& request) {
  if (desk_.leads()) {
    core::Reported event;
    event.worker = wire::from_wire(request.worker);
    event.reports = good_reports(caller, request);
    const auto reply = value_or_throw(desk_.ask(std::move(event), deadline()));
    if (const auto* taken = std::get_if<core::ReportsTaken>(&reply)) {
      for (const auto& key : taken->taken) out.push_back(wire::to_wire(key));
    }
    return;
  }
  if (request.forwarded) throw rpc::to_wire(desk_.not_leader());
  thrift::ReportRequest onward = request;
  onward.__set_forwarded(true);
  onward.__set_caller(rpc::to_wire(caller));
  out = value_or_throw(desk_.call_leader_report(
      [&](thrift::ReportServiceClient& client) {
        std::vector<thrift::AttemptKey> answer;
        client.report(answer, onward);
        return answer;
      },
      deadline()));
}

void ReportServiceHandler::append_log(const Caller& caller, std::vector<std::int64_t>& out,
                                      const std::vector<thrift::LogChunk>& chunks) {
  std::vector<store::LogChunk> converted;
  converted.reserve(chunks.size());
  for (const thrift::LogChunk& in : chunks) {
    converted.push_back(value_or_throw(chunk_of(in)));
  }
  out = value_or_throw(intake_.append(caller, converted));
}

void ReportServiceHandler::renew(const Caller& caller, const thrift::RenewRequest& request) {
  if (desk_.leads()) {
    core::RenewAsked event = renewal_of(request, clock_.wall());
    const auto reply = value_or_throw(desk_.ask(std::move(event), deadline()));
    if (!std::holds_alternative<core::Renewed>(reply)) {
      throw rpc::to_wire(unexpected_reply());
    }
    return;
  }
  if (request.forwarded) throw rpc::to_wire(desk_.not_leader());
  thrift::RenewRequest onward = request;
  onward.__set_forwarded(true);
  onward.__set_caller(rpc::to_wire(caller));
  value_or_throw(desk_.call_leader_report(
      [&](thrift::ReportServiceClient& client) { client.renew(onward); }, deadline()));
}

}  // namespace rota::master::api
