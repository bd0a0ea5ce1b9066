#include "client/command/man_text.h"

#include <doctest/doctest.h>

namespace rota::client {

TEST_CASE("man_words: nothing in a text is taken for a command, and every dash is one that can be copied") {
  CHECK(man_words("a \\n b") == "a \\en b");
  CHECK(man_words("--watch, '90 %'") == "\\-\\-watch, \\(aq90 %\\(aq");
  CHECK(man_words("2^3 ~/.config") == "2\\(ha3 \\(ti/.config");
}

TEST_CASE("man_words: words in ticks are bold, and of a link its words remain") {
  CHECK(man_words("see `rota job`.") == "see \\fBrota job\\fR.");
  CHECK(man_words("see [schedules.md](schedules.md) too") == "see schedules.md too");
  CHECK(man_words("takes [nobody] and `[a](b)`") == "takes [nobody] and \\fB[a](b)\\fR");
  CHECK(man_words("an open `tick") == "an open \\fBtick\\fR");
}

TEST_CASE("man text: a line that begins with a dot is text") {
  ManText page("rota-x", 1, "about x", "1.0");
  page.paragraph(".hidden\n'quoted");
  page.lines(".a\n-b\n");
  CHECK(page.text().find("\n\\&.hidden\n\\(aqquoted\n") != std::string::npos);
  CHECK(page.text().find(".nf\n\\&.a\n\\-b\n.fi\n") != std::string::npos);
}

TEST_CASE("man text: a page begins with its name, section and version") {
  ManText page("rota-x", 1, "about \"x\"", "1.0");
  CHECK(page.text().find(".TH \"ROTA\\-X\" 1 \"\" \"Rota 1.0\" \"Rota\"\n") != std::string::npos);
  CHECK(page.text().find(".SH \"NAME\"\nrota\\-x \\- about \"x\"\n") != std::string::npos);
  page.entry("--all", "N", "first\nsecond");
  CHECK(page.text().ends_with(".TP\n\\fB\\-\\-all\\fR \\fIN\\fR\nfirst\n.br\nsecond\n"));
}

}  // namespace rota::client
