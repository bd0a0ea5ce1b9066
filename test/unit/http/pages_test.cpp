#include <doctest/doctest.h>

#include "common/http/page.h"

using namespace rota::http;

TEST_CASE("page: no text from outside becomes markup") {
  CHECK(escaped("<b a='1' c=\"2\">&\n\x01") == "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;  ");
  Page page("<t>");
  page.warning("<w>");
  page.link("<a>", "http://h/'\"><u>");
  page.link("no", "javascript:alert()");
  page.table({"<h>"}, {{"<script>"}}, "none");
  page.table({"h"}, {}, "<none>");
  const std::string text = page.text();
  for (const char* raw : {"<t>", "<w>", "<h>", "<script>", "<none>", "<a>", "<u>", "href=\"javascript"}) {
    CAPTURE(raw);
    CHECK(text.find(raw) == std::string::npos);
  }
  CHECK(text.find("&lt;script&gt;") != std::string::npos);
  CHECK(text.find("<p>&lt;a&gt; <a href=\"http://h/&#39;&quot;&gt;&lt;u&gt;\">") != std::string::npos);
}
