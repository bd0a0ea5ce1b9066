// Making a sequential ephemeral node when the answer may be lost. Without care the node exists,
// nobody knows whose it is, and a ghost stands in the election until the session ends.
#pragma once

#include <string>

#include "common/zk/client.h"

namespace rota::zk {

/// Makes `folder/prefix<tag>_<sequence>` with the session's life. After an unclear answer it lists
/// the folder and looks for the tag; a node counts only when its ephemeral owner is the present
/// session. Gives the node's name (not its path). UnknownOutcome only when looking failed too (cut
/// off, or the session ended): call adopt_tagged with the same tag before making another. `tag`: 16
/// hex digits of randomness, one for each candidacy.
Result<std::string> protected_create(Client& client, const std::string& folder,
                                     const std::string& prefix, const std::string& tag,
                                     const std::string& data);

/// The node of this session with this tag; NotFound when there is none for sure. Should there be
/// more than one, the first made is kept and the others are removed.
Result<std::string> adopt_tagged(Client& client, const std::string& folder,
                                 const std::string& prefix, const std::string& tag);

}  // namespace rota::zk
