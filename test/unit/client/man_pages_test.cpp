#include "client/command/man_pages.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace rota::client {
namespace {

const ManPage& page_of(const std::vector<ManPage>& pages, const std::string& file) {
  const auto found = std::ranges::find(pages, file, &ManPage::file);
  REQUIRE_MESSAGE(found != pages.end(), file);
  return *found;
}

bool has(const ManPage& page, const std::string& text) { return page.text.find(text) != std::string::npos; }

CommandWord tree() {
  CommandWord root{"rota", "", {{{"--output", "-o"}, "form", true, {"table", "json"}}}, {}};
  root.options.front().full_help = "form";
  root.options.front().value_name = "TEXT";
  CommandWord list{"list", "all jobs", {{{"--limit"}, "rows", true, {}}}, {}};
  list.options.front().full_help = "at most this many rows";
  list.positionals = {{{"prefix"}, "", true, {}}};
  root.children = {{"job", "saved jobs", {}, {list}}};
  return root;
}

}  // namespace

TEST_CASE("man_pages: one for each command, with its subcommands, places and options") {
  const auto pages = man_pages(tree(), {}, "1.0");
  CHECK(has(page_of(pages, "rota.1"), "\\fB\\-\\-output, \\-o\\fR \\fITEXT\\fR\nform\n.br\none of: table, json\n"));
  const ManPage& job = page_of(pages, "rota-job.1");
  CHECK(has(job, ".SS \"rota job list\""));
  CHECK(has(job, "\\fBrota job list\\fR [prefix] [OPTION]..."));
  CHECK(has(job, "\\fB\\-\\-limit\\fR"));
  CHECK(has(job, "at most this many rows"));
}

TEST_CASE("man_pages: job files, contexts, programs and their settings have pages") {
  const HelpTexts helps = {{"rota-master", "Rota's master\nUsage: rota-master [OPTIONS]\n\nOptions:\n"
                                           "  --config TEXT   the file\n"}};
  const auto pages = man_pages(tree(), helps, "1.0");
  CHECK(has(page_of(pages, "rota-job.5"), "\\fBschedule.every\\fR"));
  CHECK(has(page_of(pages, "rota-config.5"), "\\fBcontexts.NAME.masters\\fR"));
  CHECK(has(page_of(pages, "rota-master.8"), "\\fB\\-\\-config TEXT\\fR\nthe file\n"));
  CHECK(has(page_of(pages, "rota-master.yaml.5"), "\\fBzookeeper.connect\\fR"));
  CHECK(has(page_of(pages, "rota-master.yaml.5"), "ROTA_ZOOKEEPER_CONNECT"));
}

TEST_CASE("options_of_help: forms of a command line are read as options are") {
  CHECK(options_of_help("x: about\n\n  x [--config F]   run\n  x --check-config\n\nSignals: TERM\n") ==
        std::vector<HelpOption>{{"x [--config F]", "run"}, {"x --check-config", ""}});
}

TEST_CASE("options_of_help: reads what CLI11 writes, also of several lines") {
  CHECK(options_of_help("about\nUsage: x [OPTIONS]\n\nOptions:\n"
                        "  -h,--help                   Print this help\n"
                        "  --config TEXT REQUIRED      the file\n"
                        "                              of settings\n"
                        "  --a-name-that-is-so-long-that-its-help-begins-below\n"
                        "                              below\n") ==
        std::vector<HelpOption>{{"-h,--help", "Print this help"},
                                {"--config TEXT REQUIRED", "the file of settings"},
                                {"--a-name-that-is-so-long-that-its-help-begins-below", "below"}});
}

}  // namespace rota::client
