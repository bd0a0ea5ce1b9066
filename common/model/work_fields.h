// The rows of the field table (job_fields.h, whose head says the rules) for what an attempt runs and may use.
#pragma once

#include "common/model/field.h"
#include "common/model/field_bounds.h"
#include "common/model/job.h"

namespace rota::model {

template <typename Visit>
constexpr void for_each_field(FieldsOf<JobLimits>, Visit&& visit) {
  using Struct = JobLimits;
  using enum FieldKind;
  visit(field<Size>(ROTA_FIELD(memory_bytes, memory_bytes),
                   {.key = "limits.memory",
                    .help = "all processes of the attempt",
                    .low = 1 << 20, .high = kMaxLimitBytes, .or_none = true, .unset = "none",
                    .in_hash = InHash::Isolation, .content_id = 1}));
  visit(field<Size>(ROTA_FIELD(address_space_bytes, address_space_bytes),
                   {.key = "limits.address_space",
                    .help = "one process",
                    .low = 16 << 20, .high = kMaxLimitBytes, .or_none = true, .unset = "none",
                    .in_hash = InHash::Isolation, .content_id = 2}));
  visit(field<Whole>(ROTA_FIELD(processes, processes),
                   {.key = "limits.processes",
                    .help = "how many at once",
                    .low = 1, .high = 1'000'000, .or_none = true, .unset = "none",
                    .in_hash = InHash::Isolation, .content_id = 3}));
  visit(field<Whole>(ROTA_FIELD(open_files, open_files),
                   {.key = "limits.open_files",
                    .help = "of one process",
                    .low = 4, .high = 1'000'000, .or_none = true, .unset = "none",
                    .in_hash = InHash::Isolation, .content_id = 4}));
  visit(field<Duration>(ROTA_FIELD(cpu, cpu_ms),
                   {.key = "limits.cpu",
                    .help = "CPU time of all processes together",
                    .low = 1000, .high = 365 * kDayMs, .or_none = true, .unset = "none",
                    .in_hash = InHash::Isolation, .content_id = 5}));
  visit(field<Size>(ROTA_FIELD(file_size_bytes, file_size_bytes),
                   {.key = "limits.file_size",
                    .help = "one file",
                    .low = 1, .high = kMaxLimitBytes, .or_none = true, .unset = "none",
                    .in_hash = InHash::Isolation, .content_id = 6}));
  visit(field<Size>(ROTA_FIELD(folder_bytes, folder_bytes),
                   {.key = "limits.folder",
                    .help = "the attempt's own folder",
                    .low = 4096, .high = kMaxLimitBytes, .or_none = true, .unset = "none",
                    .in_hash = InHash::Isolation, .content_id = 7}));
  visit(field<Size>(ROTA_FIELD(core_bytes, core_bytes),
                   {.key = "limits.core",
                    .help = "one core file",
                    .high = kMaxLimitBytes, .unset = "none is written", .in_hash = InHash::Isolation,
                    .content_id = 8}));
  visit(field<Cores>(ROTA_FIELD(milli_cpus, milli_cpus),
                   {.key = "limits.cpus",
                    .help = "CPU time a second of all processes, in cores, down to thousandths",
                    .low = 10, .high = 1'000'000, .or_none = true, .unset = "none",
                    .in_hash = InHash::IsolationNamed, .hash_name = "cpus", .content_id = 9}));
}

template <typename Visit>
constexpr void for_each_field(FieldsOf<JobWork>, Visit&& visit) {
  using Struct = JobWork;
  using enum FieldKind;
  visit(field<Text>(ROTA_FIELD(handler, handler),
                   {.key = "handler",
                    .help = "`command`, `http`, or a handler linked into the worker",
                    .bytes = kMaxNameBytes, .form = TextForm::Word, .in_hash = InHash::Always,
                    .content_id = 1}));
  visit(field<Texts>(ROTA_FIELD(argv, argv),
                   {.key = "command",
                    .help = "a list of words, run as they are; or one text for the interpreter",
                    .high = 1024, .bytes = kMaxWorkBytes, .unit = "arguments",
                    .unset = "required unless `handler`", .in_hash = InHash::Always, .content_id = 2}));
  visit(field<Text>(ROTA_FIELD(script, script),
                   {.key = "script",
                    .help = "a longer text for the interpreter, instead of `command`",
                    .bytes = kMaxWorkBytes, .unset = "none", .in_hash = InHash::Always, .content_id = 3}));
  visit(field<Text>(ROTA_FIELD(interpreter, interpreter),
                   {.key = "interpreter",
                    .help = "who reads the script: a name or a path, with options if you like",
                    .bytes = 4096, .in_hash = InHash::Always, .content_id = 4}));
  visit(field<TextMap>(ROTA_FIELD(environment, environment),
                   {.key = "environment",
                    .help = "`NAME: value`, for the process",
                    .bytes = kMaxValueBytes, .unset = "none", .in_hash = InHash::Always, .content_id = 5}));
  visit(field<TextMap>(ROTA_FIELD(parameters, parameters),
                   {.key = "parameters",
                    .help = "`name: value`; the job sees `region` as `ROTA_PARAM_REGION`: in "
                            "capitals, `_` for all but letters and digits; a run may override them",
                    .bytes = kMaxValueBytes, .unset = "none", .in_hash = InHash::Always, .content_id = 6}));
  visit(field<Text>(ROTA_FIELD(folder, folder),
                   {.key = "folder",
                    .help = "the process's working folder, absolute",
                    .bytes = 4096, .form = TextForm::Path, .or_none = true,
                    .unset = "one of each attempt's own, removed after it", .in_hash = InHash::Always,
                    .content_id = 7}));
  visit(field<Whole>(ROTA_FIELD(output_cap_bytes, output_cap_bytes),
                   {.key = "output_cap_bytes",
                    .help = "output kept of each of an attempt's two streams; head and tail stay, "
                            "the middle is counted. No more than the worker's `output.cap_bytes`",
                    .low = 1024, .high = std::int64_t{16} << 30, .unit = "bytes", .unset = "64 MiB",
                    .in_hash = InHash::Always, .content_id = 8}));
  visit(field<Group>(ROTA_FIELD(limits, limits),
                   {.in_hash = InHash::Isolation, .content_id = 20}));
  visit(field<Whole>(ROTA_FIELD(nice, nice),
                   {.key = "nice",
                    .help = "added to the worker's own",
                    .low = -20, .high = 19, .in_hash = InHash::Isolation, .content_id = 21}));
  visit(field<Octal>(ROTA_FIELD(umask, umask),
                   {.key = "umask",
                    .help = "three octal digits",
                    .high = 0777, .in_hash = InHash::Isolation, .content_id = 22}));
  visit(field<Text>(ROTA_FIELD(run_as, run_as),
                   {.key = "run_as",
                    .help = "a user whom the worker's file lists under `run_as_users` (root too "
                            "only then)",
                    .bytes = 64, .form = TextForm::Word, .or_none = true, .unset = "the worker's own",
                    .in_hash = InHash::Isolation, .content_id = 23}));
  visit(field<Choice>(ROTA_FIELD(keep_folder, keep_folder),
                   {.key = "keep_folder",
                    .help = "whether the attempt's own folder stays when it has ended; the outcome "
                            "says where. A worker keeps the newest 100",
                    .in_hash = InHash::Isolation, .content_id = 24}));
  visit(field<Choice>(ROTA_FIELD(isolation, isolation),
                   {.key = "isolation",
                    .help = "of a handler: a thread of the worker's, without what only a process "
                            "can have (`limits`, `run_as`, `nice`, `umask`, `folder`, "
                            "`keep_folder`, `environment` are then refused), or a process of its own",
                    .in_hash = InHash::Bare, .content_id = 25}));
  visit(field<Texts>(ROTA_FIELD(cleanup, cleanup),
                   {.key = "cleanup",
                    .help = "a list of words, run on the worker after each attempt, however it ended; "
                            "`{{run}}`, `{{attempt}}` and `{{param.NAME}}` stand for their values, see below",
                    .high = 256, .bytes = 4096, .unit = "words", .unset = "none",
                    .is_stored_when_changed = true}));
}

}  // namespace rota::model
