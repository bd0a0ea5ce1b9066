#include "worker/run/cleanup_notes.h"

#include <unistd.h>

#include <charconv>

#include "common/base/file.h"
#include "common/base/log.h"
#include "worker/run/cleanup_plan.h"

namespace rota::worker::run {

namespace {

constexpr std::string_view kNoteFormat = "rota-cleanup 1 ";
constexpr std::size_t kMostBytes = warden::kMaxMessageBytes + 1024;

Error damaged() { return {ErrorCode::Corrupt, "the note of a cleanup is damaged"}; }

}  // namespace

std::string encode_cleanup_note(const CleanupNote& note) {
  const std::string bytes = warden::encode(warden::Request{note.start});
  const std::string head = std::to_string(to_ms(note.accepted)) + " " + std::to_string(bytes.size());
  return std::string(kNoteFormat) + head + "\n" + bytes;
}

Result<CleanupNote> decode_cleanup_note(const std::string& text) {
  const std::size_t line = text.find('\n');
  if (!text.starts_with(kNoteFormat) || line == std::string::npos) return fail(damaged());
  const char* const end = text.data() + line;
  std::int64_t accepted = 0;
  std::size_t size = 0;
  const auto first = std::from_chars(text.data() + kNoteFormat.size(), end, accepted);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ' ') return fail(damaged());
  const auto second = std::from_chars(first.ptr + 1, end, size);
  if (second.ec != std::errc{} || second.ptr != end || text.size() - line - 1 != size) return fail(damaged());
  auto request = warden::decode_request(std::string_view(text).substr(line + 1));
  auto* const start = request ? std::get_if<warden::Start>(&*request) : nullptr;
  if (start == nullptr || !is_cleanup(start->key) || start->argv.empty()) return fail(damaged());
  return CleanupNote{wall_from_ms(accepted), std::move(*start)};
}

std::string CleanupNotes::path_of(model::AttemptKey key) const {
  return folder_ + "/" + std::to_string(key.run.value) + "-" + std::to_string(key.attempt);
}

Result<void> CleanupNotes::start() {
  if (folder_.empty()) return {};
  if (auto made = make_folders(folder_, 0700); !made) return made;
  const auto names = names_in(folder_);
  if (!names) return fail(names.error());
  std::scoped_lock lock(mutex_);
  for (const std::string& name : *names) {
    const std::string path = folder_ + "/" + name;
    if (name.find_first_not_of("0123456789-") != std::string::npos) continue;  // one that was being written
    const auto text = read_file(path, kMostBytes);
    auto note = text ? decode_cleanup_note(*text) : Result<CleanupNote>(fail(text.error()));
    if (!note) {
      log_error("run", "what a cleanup was to do cannot be read; look at the host",
                {{"file", path}, {"why", note.error().message}});
      continue;
    }
    const model::AttemptKey key = attempt_of(note->start.key);
    notes_.insert_or_assign(key, std::move(*note));
  }
  return {};
}

Result<void> CleanupNotes::write(model::AttemptKey key, CleanupNote note) {
  if (!folder_.empty()) {
    auto written = write_file_synced(path_of(key), encode_cleanup_note(note), 0600);
    if (!written) return written;
  }
  std::scoped_lock lock(mutex_);
  notes_.insert_or_assign(key, std::move(note));
  return {};
}

std::optional<CleanupNote> CleanupNotes::find(model::AttemptKey key) const {
  std::scoped_lock lock(mutex_);
  const auto found = notes_.find(key);
  return found == notes_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<model::AttemptKey> CleanupNotes::keys() const {
  std::scoped_lock lock(mutex_);
  std::vector<model::AttemptKey> keys;
  for (const auto& [key, note] : notes_) keys.push_back(key);
  return keys;
}

bool CleanupNotes::forget(model::AttemptKey key) {
  {
    std::scoped_lock lock(mutex_);
    if (notes_.erase(key) == 0) return false;
  }
  if (!folder_.empty()) ::unlink(path_of(key).c_str());
  return true;
}

}  // namespace rota::worker::run
