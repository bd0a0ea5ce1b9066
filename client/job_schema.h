// What the field table tells people and editors: a JSON Schema of job files, and the table of their keys in
// docs/jobs.md. Pure.
#pragma once

#include <string>

namespace rota::client {

/// Draft 7, which the YAML plug-ins of editors take: one job, or several under `jobs:`. It is a little wider
/// than read_job_file: it does not know ranges of durations and sizes with a unit.
std::string job_schema_text();

/// A Markdown table with one line for each key.
std::string job_key_table();

}  // namespace rota::client
