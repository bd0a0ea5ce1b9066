// Removing what an attempt left: folders as deep as it liked, without permissions, links to anywhere.
#pragma once

#include <string>

#include "common/base/result.h"

namespace rota::worker::run {

/// Removes a folder and all that is in it. Follows no link, stays on its path, needs a few descriptors
/// however deep it goes, and gives itself the permissions that are missing. Done also when there is
/// nothing; Unavailable names the first thing that could not be removed (the rest is gone).
Result<void> remove_folder(const std::string& folder);

}  // namespace rota::worker::run
