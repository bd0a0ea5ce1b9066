// How workers are shown, in lists and one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rota::thrift {
class WorkerInfo;
class WorkerLife;
}  // namespace rota::thrift

namespace rota::client {

/// What the leader says: why it is not online, who drains it, what its self check found. Empty: nothing.
std::string remarks_on(const thrift::WorkerInfo& worker);
/// How old its figures are: "2s"; "-": unknown.
std::string figures_age_of(const thrift::WorkerInfo& worker);
/// "2s"; "1.5s" would say more than anybody knows.
std::string seconds_text(std::int64_t ms);
/// How long ago it asked for a voucher; "-": not known.
std::string heartbeat_of(const thrift::WorkerInfo& worker);
/// "250 of 1000": of the last runs of its pool; "-": none was given, or not known.
std::string share_of(const thrift::WorkerInfo& worker);
/// "12 scheduled, 11 succeeded, 1 failed"; "-": not known. `is_short`: "12/11/1".
std::string today_of(const thrift::WorkerInfo& worker, bool is_short);
/// Slots that its attempts take; as many as they are where its master does not say.
std::int32_t used_slots_of(const thrift::WorkerInfo& worker);
/// "memory 2GiB, 512MiB in use; cpu 4, 0 in use"; empty: nothing beside its slots.
std::string offers_of(const thrift::WorkerInfo& worker);
/// "host:port", or "-".
std::string address_of(const thrift::WorkerInfo& worker);
/// "memory,processes,cpus": the limits that the kernel enforces there; "-": none.
std::string kernel_limits_of(const thrift::WorkerInfo& worker);
/// The cells of one life: LIFE, POOL, ADDRESS, JOINED, LEFT, WHY.
std::vector<std::string> life_cells(const thrift::WorkerLife& life);
/// With headers, in the given order.
std::string lives_table(const std::vector<thrift::WorkerLife>& lives);

}  // namespace rota::client
