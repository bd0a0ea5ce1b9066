// What a run runs, in one line for people.
#pragma once

#include <string>

namespace rota::thrift {
class Work;
}

namespace rota::client {

/// A command as a shell would take it, a script by its interpreter and first line, or a handler's name. What
/// is long is cut; nothing is escaped for the terminal, which the table does.
std::string work_text(const thrift::Work& work);

}  // namespace rota::client
