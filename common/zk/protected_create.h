// Creates a sequential ephemeral node even when the answer may be lost. Without care the node would
// exist without a known owner: a ghost in the election until the session ends.
#pragma once

#include <string>

#include "common/zk/client.h"

namespace rota::zk {

/// Creates the ephemeral `folder/prefix<tag>_<sequence>`. After an unclear answer it lists the folder
/// and looks for the tag; a node counts only when its ephemeral owner is the present session. Returns
/// the node's name (not its path). UnknownOutcome only when this look failed too (cut off, or the
/// session ended): call adopt_tagged with the same tag before creating another. `tag`: 16 random hex
/// digits, new for each candidacy.
Result<std::string> protected_create(Client& client, const std::string& folder,
                                     const std::string& prefix, const std::string& tag,
                                     const std::string& data);

/// The node of this session with this tag; NotFound when there is certainly none. If there is more
/// than one, the first is kept and the others are removed.
Result<std::string> adopt_tagged(Client& client, const std::string& folder,
                                 const std::string& prefix, const std::string& tag);

}  // namespace rota::zk
