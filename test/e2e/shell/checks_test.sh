#!/bin/bash
# The lint and the counting of cases go red when they should.
# usage: checks_test.sh [test_function...]
# shellcheck source=test/e2e/shell/shell_test.sh
. "$(dirname "${BASH_SOURCE[0]}")/shell_test.sh"

# file PATH: a file of a small project in $tmp/p; its text comes from stdin.
file() {
  mkdir -p "$tmp/p/$(dirname "$1")"
  cat >"$tmp/p/$1"
}

lint() { "$root/scripts/lint" "$tmp/p" >"$tmp/found" 2>/dev/null; }

# finds PATTERN: the lint is red, and says so.
finds() {
  lint && fail "the lint is green, without: $1"
  expect "finding '$1'" has_line "$tmp/found" "$1"
}

test_clean_project() {
  says "lint: a clean file gives no finding, nor do banned words in comments and texts"
  file master/core/a.cpp <<'END'
#include "common/model/job.h"
#include <string>
// x->commit() would be wrong here, std::views too.
const char* text = "connection->rollback(); system(\"x\")";
END
  expect "green" lint
}

test_include_table() {
  says "lint: an include that the table forbids is found"
  file master/core/a.cpp <<<'#include "master/store/store.h"'
  finds 'master/core/a.cpp:1: master/core may not include "master/store/store.h"'
  file master/dispatch/b.h <<<'#include "master/cluster/elector.h"'
  finds 'master/dispatch/b.h:1: master/dispatch may not include'
  file worker/warden/c.cpp <<<'#include "common/base/log.h"'
  finds 'worker/warden/c.cpp:1: worker/warden may not include "common/base/log.h"'
  file client/d.cpp <<<'#include "test/support/clock.h"'
  finds 'client/d.cpp:1: nothing includes test'
}

test_library_headers() {
  says "lint: a library's header outside its place is found"
  file common/zk/a.cpp <<<'#include <zookeeper/zookeeper.h>'
  expect "green in its place" lint
  file master/cluster/b.cpp <<<'#include <zookeeper/zookeeper.h>'
  finds 'master/cluster/b.cpp:1: .*ZooKeeper headers belong in'
  file master/loop/c.cpp <<<'#include <mysql_connection.h>'
  finds 'master/loop/c.cpp:1: .*MySQL Connector headers'
  file client/d.cpp <<<'#include <yaml-cpp/yaml.h>'
  finds 'client/d.cpp:1: .*yaml-cpp headers'
}

test_banned_calls() {
  says "lint: every banned call is found"
  local call
  for call in 'c->commit();' 'c->rollback();' 'c->setAutoCommit(false);' 'o[OPT_RECONNECT] = true;' \
    't.detach();' 'std::system(s);' 'popen(s, "r");' 'auto v = std::views::all(x);'; do
    file common/rpc/a.cpp <<<"void f() { $call }"
    finds 'common/rpc/a.cpp:1:'
  done
  file common/rpc/a.cpp <<<'#include <format>'
  finds 'common/rpc/a.cpp:1: .*use fmt'
}

test_core_purity() {
  says "lint: a clock, a dice or a log in the core is found"
  local text
  for text in '#include <thread>' '#include "common/base/log.h"' 'auto t = std::chrono::system_clock::now();' \
    'int r = rand();' 'std::random_device d;' 'log_info("core", "no");'; do
    file master/core/a.cpp <<<"$text"
    finds 'master/core/a.cpp:1:'
  done
}

test_sql() {
  says "lint: SQL that only one server knows is found"
  local text
  for text in 'INSERT INTO t VALUES (1) RETURNING id' 'CREATE SEQUENCE s' \
    'ALTER TABLE t ADD COLUMN IF NOT EXISTS a INT' 'SELECT a FROM t FOR SHARE'; do
    file master/store/a.cpp <<<"const char* q = \"$text\";"
    finds 'master/store/a.cpp:1:'
  done
  file master/store/a.cpp <<<'const char* q = "CREATE TABLE IF NOT EXISTS t (a INT)";'
  expect "green: both know it" lint
}

test_texts() {
  says "lint: unfinished work, vague names and overlong files are found"
  file client/string_util.h <<<'int x;'
  finds 'client/string_util.h:1: a vague file name'
  file client/a.cpp <<<"// TO""DO: more"
  finds 'client/a.cpp:1: TO''DO: unfinished work'
  printf 'int x;\n%.0s' {1..501} | file client/b.cpp
  finds 'client/b.cpp:501: longer than 500 lines'
  file test/unit/c.cpp <<<'TEST_CASE("it works") {}'
  finds 'test/unit/c.cpp:1: test case "it works" is not named'
}

test_count() {
  says "count_cases: adds doctest cases, plain summaries and programs that died"
  cat >"$tmp/log" <<'END'
1/4 Testing: doctest
[doctest] test cases: 12 | 11 passed | 1 failed | 0 skipped
Test Failed.
2/4 Testing: shell
5 passed, 0 failed
Test Passed.
3/4 Testing: died after its summary
[doctest] test cases: 4 | 4 passed | 0 failed | 0 skipped
Test Failed.
4/4 Testing: silent
Test Passed.
END
  expect "the sum" test "$(/usr/bin/python3 "$root/scripts/lib/count_cases.py" "$tmp/log")" = "21 2"
}

run_all "$@"
