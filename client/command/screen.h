// What the commands print: data on stdout (a table for people, JSON or YAML), notes on stderr.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "client/command/exit_status.h"
#include "client/command/table.h"
#include "common/base/result.h"
#include "common/model/zone.h"

namespace rota::client {

/// Wide: a table with all columns. JsonLine: JSON without line breaks, one document a line (--watch).
enum class Format { Table, Wide, Json, JsonLine, Yaml, Csv };

/// JSON, YAML or CSV on stdout with a line break; broken UTF-8 in stored texts is replaced.
void print_data(Format format, const nlohmann::json& value);
/// Text on stdout as it is.
void print_text(std::string_view text);
/// Nobody reads what is printed, or it cannot be written. Whoever prints without an end then stops.
bool output_is_closed();
/// The reader of stdout has gone, such as `head` after its lines. That is no error.
bool output_has_no_reader();
/// After a command: its status; kFailed with a complaint when its output could not be written completely.
int status_of_output(int status);
/// One line on stderr.
void note(std::string_view line);
/// Prints "rota: MESSAGE" and returns the exit status of the error.
int complain(const Error& error);

/// "2026-03-29 02:30:00.123Z", or "-" for 0.
std::string show_time(std::int64_t ms);
/// "  2026-03-29 04:30:00 Europe/Berlin": the local time there.
std::string show_local_time(std::int64_t ms, const model::ZoneRules& zone);
/// "k=v, k2=v2"; empty for none.
std::string pairs_text(const std::map<std::string, std::string>& pairs);
/// "1.2s" between two moments, or "-" when one is missing.
std::string show_duration(std::int64_t from_ms, std::int64_t to_ms);
/// Reads a run's id as printed; InvalidArgument for anything else.
Result<std::int64_t> run_id_from(std::string_view text);

}  // namespace rota::client
