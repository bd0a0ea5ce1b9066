// Programs that make a mess on the disk.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test/nasty/nasty_worker.h"

namespace rota::testing {

namespace {
/// A folder that the job must not touch.
std::string precious_folder(const NastyWorker& it) {
  const std::string folder = it.scratch("precious");
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/file") << "kept";
  return folder;
}
}  // namespace

TEST_CASE("nasty: 10,000 files") {
  NastyWorker it;
  it.run(by_python("import os\nfor i in range(10000): os.close(os.open('f%d' % i, os.O_CREAT | os.O_WRONLY))"),
         {});
}

TEST_CASE("nasty: 2,000 folders within each other") {
  NastyWorker it;
  it.run(by_python("import os\nfor i in range(2000):\n os.mkdir('d')\n os.chdir('d')\nopen('end', 'w')"), {});
}

TEST_CASE("nasty: a link to / in its folder") {
  NastyWorker it;
  const std::string precious = precious_folder(it);
  it.run(by_sh("cd \"$ROTA_WORK_FOLDER\" && ln -s / root && ln -s " + precious + " other && mkdir d && ln -s "
               "../../../.. d/up; exit 1"), exited(1));
  CHECK(std::filesystem::exists(precious + "/file"));
}

TEST_CASE("nasty: a folder of mode 000") {
  NastyWorker it;
  it.run(by_sh("mkdir -p a/b && touch a/b/f && chmod 000 a/b a . ; exit 1"), exited(1));
}

TEST_CASE("nasty: gives its folder another name") {
  NastyWorker it;
  it.run(by_sh("touch f; mv \"$ROTA_WORK_FOLDER\" \"$ROTA_WORK_FOLDER\".mine; exit 1"), exited(1));
}

TEST_CASE("nasty: removes its folder") {
  NastyWorker it;
  it.run(by_sh("rm -rf \"$ROTA_WORK_FOLDER\"; exit 1"), exited(1));
}

TEST_CASE("nasty: puts a link in its folder's place") {
  NastyWorker it;
  const std::string precious = precious_folder(it);
  it.run(by_sh("rm -rf \"$ROTA_WORK_FOLDER\"; ln -s " + precious + " \"$ROTA_WORK_FOLDER\"; exit 1"),
         exited(1));
  CHECK(std::filesystem::exists(precious + "/file"));
}

TEST_CASE("nasty: pipes, sockets and devices in its folder") {
  NastyWorker it;
  it.run(by_python("import os, socket, sys\nos.mkfifo('fifo')\nsocket.socket(socket.AF_UNIX).bind('s')\n"
                   "try: os.mknod('null', 0o20666, os.makedev(1, 3))\nexcept OSError: pass\nsys.exit(1)"),
         exited(1));
}

TEST_CASE("nasty: a sparse file of a terabyte") {
  NastyWorker it;
  auto item = it.item(by_sh("truncate -s 1T big; sleep 0.4"));
  item.work.limits.__set_folder_bytes(1 << 20);
  it.expect(it.start(item), {});
}

TEST_CASE("nasty: mounts over its folder") {
  NastyWorker it;
  it.run(by_sh("mount -t tmpfs none \"$ROTA_WORK_FOLDER\" 2>/dev/null; cd \"$ROTA_WORK_FOLDER\"; touch x; exit 1"),
         exited(1));
}

TEST_CASE("nasty: fails, and its folder is kept for people to look at") {
  NastyWorker it;
  auto item = it.item(by_sh("echo evidence > clue; exit 1"));
  item.work.__set_keep_folder("on_failure");
  const auto outcome = it.expect(it.start(item), exited(1));
  const std::string kept = it.work_dir() + "/kept/" + std::to_string(item.attempt.run) + ".1";
  CHECK(outcome.message == "exit status 1; its folder is kept as " + kept);
  CHECK(std::filesystem::file_size(kept + "/clue") == 9);
  auto good = it.item(by_sh("echo evidence > clue"));
  good.work.__set_keep_folder("on_failure");
  CHECK(it.expect(it.start(good), {}).message.empty());
  CHECK_FALSE(std::filesystem::exists(it.work_dir() + "/kept/" + std::to_string(good.attempt.run) + ".1"));
}

}  // namespace rota::testing
