// CHECK_OR_DIE(condition, why): for conditions that only a bug can make false. Always on. It writes one line
// to stderr and ends the process (crash-only: the watchdog restarts it, recovery reads the truth).
#pragma once

namespace rota {
[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);
}

#define CHECK_OR_DIE(condition, why) \
  (static_cast<bool>(condition) ? void(0) : ::rota::check_failed(#condition, why, __FILE__, __LINE__))
