// How a run is stored whose place another took. Masters of before `replaced_by` refuse a row with a
// reason that they do not know, so it stands there as one that was cancelled; only its detail is a run and
// nothing else.
#pragma once

#include <string_view>

#include "common/model/run.h"

namespace rota::master::store {

inline std::string_view stored_name(model::Reason reason) {
  const bool is_cancel = reason == model::Reason::ReplacedBy;
  return name_of(is_cancel ? model::Reason::CancelledByUser : reason);
}

/// Whether a row with that reason and detail means `replaced_by`.
inline bool is_stored_as_cancel(model::Reason reason, std::string_view detail) {
  const bool is_run = !detail.empty() && detail.find_first_not_of("0123456789") == std::string_view::npos;
  return reason == model::Reason::CancelledByUser && is_run;
}

}  // namespace rota::master::store
