// The warden's only voice: one line on stderr. It has no log of its own; the proper logs what matters.
#pragma once

#include <string_view>

namespace rota::worker::warden {

/// "rota-warden: WHAT: DETAIL". Never waits for long, never fails.
void complain(std::string_view what, std::string_view detail);

}  // namespace rota::worker::warden
