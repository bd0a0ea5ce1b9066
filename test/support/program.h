// Programs of a test that write to a file.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/base/result.h"

namespace rota::testing {

/// Starts a program, looked up in PATH, with nothing as its input; what it prints is added to the file.
/// -1 when that fails. The caller waits for the process.
pid_t spawn(std::vector<std::string> words, const std::string& output);

/// Runs a program to its end: what it printed, which is all that the file then holds. An exit status other
/// than 0 is an error with that text.
Result<std::string> run(std::vector<std::string> words, const std::string& output);

}  // namespace rota::testing
