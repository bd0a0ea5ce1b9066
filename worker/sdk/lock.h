// Named locks as a handler sees them: see common/base/named_lock.h.
#pragma once

#include "common/base/named_lock.h"

namespace rota::sdk {

using rota::HeldLock;
using rota::LockAddress;
using rota::LockService;

}  // namespace rota::sdk
