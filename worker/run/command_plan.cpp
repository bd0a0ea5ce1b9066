#include "worker/run/command_plan.h"

#include <sstream>

namespace rota::worker::run {

namespace {

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::optional<std::string> trouble_with(const model::JobWork& work) {
  if (work.handler != "command") return std::nullopt;
  if (work.argv.empty() && work.script.empty()) return "neither a command nor a script";
  if (work.argv.empty() && words_in(work.interpreter).empty()) return "a script without interpreter";
  if (!work.argv.empty() && work.argv.front().empty()) return "the program's name is empty";
  for (const std::string& argument : work.argv) {
    if (has_nul(argument)) return "an argument holds a NUL byte";
  }
  for (const auto& [name, value] : work.environment) {
    if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value)) {
      return "the environment variable '" + name + "' cannot be set";
    }
  }
  if (has_nul(work.folder)) return "the folder's name holds a NUL byte";
  return std::nullopt;
}

std::string encode_note(const AttemptNote& note) {
  return "1\n" + note.life.id + "\n" + note.life.incarnation + "\n" +
         std::to_string(note.cap_bytes) + "\n";
}

Result<AttemptNote> decode_note(const std::string& text) {
  std::istringstream in(text);
  std::string version;
  AttemptNote note;
  if (!std::getline(in, version) || version != "1" || !std::getline(in, note.life.id) ||
      !std::getline(in, note.life.incarnation) || !(in >> note.cap_bytes)) {
    return fail(ErrorCode::Corrupt, "the note of a held attempt cannot be read");
  }
  return note;
}

warden::Start plan_command(const Order& order, const WorkPlace& place,
                           const EnvironmentBase& base, Epoch epoch,
                           const model::WorkerKey& life) {
  warden::Start start;
  start.key = to_warden(order.key);
  start.argv = order.work.argv;
  if (!place.script_file.empty()) {
    start.argv = words_in(order.work.interpreter);
    start.argv.push_back(place.script_file);
  }
  start.environment = job_environment(base, order, epoch, life, place.folder);
  start.folder = order.work.folder.empty() ? place.folder : order.work.folder;
  start.timeout = order.timeout;
  start.kill_grace = order.kill_grace;
  start.disconnect_grace = order.disconnect_grace;
  start.note = encode_note({life, order.work.output_cap_bytes});
  return start;
}

}  // namespace rota::worker::run
