// What a run runs, in one line for people.
#pragma once

#include <string>

namespace rota::thrift {
class Work;
}

namespace rota::client {

/// A command as one types it in a shell, a script by its interpreter and first line, or a handler's name.
/// Long texts are cut. Nothing is escaped for the terminal; the table does that.
std::string work_text(const thrift::Work& work);

}  // namespace rota::client
