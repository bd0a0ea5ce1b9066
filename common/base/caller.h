// Who asks. A Caller is made once per request, where the request comes in (common/rpc/edge.h), and
// is the first parameter of every method of every service. Values only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>

namespace rota {

/// The principal of all callers until they prove who they are; no other place writes this name.
inline constexpr const char* kEveryone = "local";

/// What a method needs. Which method needs what stands in common/rpc/method_rights.cpp.
enum class Right : std::uint8_t {
  Read,     ///< see jobs, runs, output, workers and the cluster's state
  Run,      ///< submit runs, start and cancel them
  Edit,     ///< create, change, pause and delete saved jobs
  Operate,  ///< drain, resume and forget workers, confirm their deaths
  Report,   ///< what a worker tells: results, output, renewals
  Command,  ///< what a leader asks of a worker
};

/// The rights that a caller's roles give together. None by default.
class Roles {
 public:
  constexpr Roles() = default;
  constexpr Roles(std::initializer_list<Right> rights) {
    for (const Right right : rights) bits_ |= bit_of(right);
  }
  static constexpr Roles all() {
    return {Right::Read, Right::Run, Right::Edit, Right::Operate, Right::Report, Right::Command};
  }
  constexpr bool allow(Right right) const { return (bits_ & bit_of(right)) != 0; }

 private:
  static constexpr std::uint32_t bit_of(Right right) { return 1u << static_cast<unsigned>(right); }

  std::uint32_t bits_ = 0;
};

/// Made by common/rpc/caller_rules.h. A default one is nobody, and may do nothing.
struct Caller {
  std::string principal;  ///< who it is; part of the key of request keys
  Roles roles;
  std::optional<std::set<std::string>> namespaces = std::set<std::string>{};  ///< unset: every one
  std::string address;  ///< host:port of the client's end of its connection
  std::string via;      ///< of the master that passed the request on; else empty
};

}  // namespace rota
