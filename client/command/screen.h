// What the commands print: data on stdout (a table for people, JSON or YAML), notes on stderr.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "client/command/exit_status.h"
#include "client/command/table.h"
#include "common/base/result.h"
#include "common/model/zone.h"

namespace rota::client {

enum class Format { Table, Json, Yaml, Csv };

/// JSON, YAML or CSV on stdout with a line break; broken UTF-8 in stored texts is replaced.
void print_data(Format format, const nlohmann::json& value);
/// Text on stdout as it is.
void print_text(std::string_view text);
/// One line on stderr.
void note(std::string_view line);
/// Prints "rota: MESSAGE" and returns the exit status of the error.
int complain(const Error& error);

/// "2026-03-29 02:30:00.123Z", or "-" for 0.
std::string show_time(std::int64_t ms);
/// "  2026-03-29 04:30:00 Europe/Berlin": the local time there.
std::string show_local_time(std::int64_t ms, const model::ZoneRules& zone);
/// "1.2s" between two moments, or "-" when one is missing.
std::string show_duration(std::int64_t from_ms, std::int64_t to_ms);
/// Reads a run's id as printed; InvalidArgument for anything else.
Result<std::int64_t> run_id_from(std::string_view text);

}  // namespace rota::client
