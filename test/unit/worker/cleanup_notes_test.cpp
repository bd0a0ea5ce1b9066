#include "worker/run/cleanup_notes.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "common/base/file.h"
#include "temporary_folder.h"
#include "worker/run/cleanup_plan.h"

namespace rota::worker::run {

namespace {

constexpr model::AttemptKey kKey{RunId{70}, 2};

CleanupNote a_note() {
  CleanupNote note;
  note.accepted = wall_from_ms(1234);
  note.start.key = cleanup_key(kKey);
  note.start.argv = {"tidy", "a b", ""};
  note.start.environment = {"A=1"};
  note.start.may_start_unvouched = true;
  note.start.disconnect_grace = warden::kNoVoucherNeeded;
  return note;
}

}  // namespace

TEST_CASE("cleanup_notes: what is written is there for the next life, until it is forgotten") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/cleanups";
  {
    CleanupNotes notes(path);
    REQUIRE(notes.start());
    REQUIRE(notes.write(kKey, a_note()));
    struct stat info {};
    REQUIRE(::stat((path + "/70-2").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
  }
  CleanupNotes notes(path);
  REQUIRE(notes.start());
  REQUIRE(notes.keys() == std::vector<model::AttemptKey>{kKey});
  const auto note = notes.find(kKey);
  REQUIRE(note);
  CHECK(note->accepted == wall_from_ms(1234));
  CHECK(note->start.argv == a_note().start.argv);
  CHECK(note->start.environment == a_note().start.environment);
  CHECK(note->start.may_start_unvouched);
  CHECK(note->start.disconnect_grace == warden::kNoVoucherNeeded);
  CHECK(notes.forget(kKey));
  CHECK(!notes.forget(kKey));
  CHECK(!notes.find(kKey));
  CleanupNotes later(path);
  REQUIRE(later.start());
  CHECK(later.keys().empty());
}

TEST_CASE("cleanup_notes: a damaged note stays on the disk and starts nothing") {
  const std::string good = encode_cleanup_note(a_note());
  REQUIRE(decode_cleanup_note(good));
  for (std::size_t size = 0; size < good.size(); ++size) CHECK(!decode_cleanup_note(good.substr(0, size)));
  CHECK(!decode_cleanup_note(good + "x"));
  CleanupNote of_an_attempt = a_note();
  of_an_attempt.start.key = {RunId{70}, 2};
  CHECK(!decode_cleanup_note(encode_cleanup_note(of_an_attempt)));

  const testing::TemporaryFolder folder;
  REQUIRE(write_file_synced(folder.path() + "/70-2", good.substr(0, good.size() - 1)));
  REQUIRE(write_file_synced(folder.path() + "/70-3.tmp", good));
  CleanupNotes notes(folder.path());
  REQUIRE(notes.start());
  CHECK(notes.keys().empty());
  CHECK(read_file(folder.path() + "/70-2"));
}

TEST_CASE("cleanup_notes: a note that cannot be written is an error, so that nothing starts") {
  const testing::TemporaryFolder folder;
  CleanupNotes notes(folder.path() + "/never/made");
  const auto written = notes.write(kKey, a_note());
  CHECK(!written);
  CHECK(!notes.find(kKey));
}

}  // namespace rota::worker::run
