#!/bin/bash
# The lint and the count of cases fail when they should.
# usage: checks_test.sh [test_function...]
# shellcheck source=test/e2e/shell/shell_test.sh
. "$(dirname "${BASH_SOURCE[0]}")/shell_test.sh"

# file PATH: a file of a small project in $tmp/p; its text comes from stdin.
file() {
  mkdir -p "$tmp/p/$(dirname "$1")"
  cat >"$tmp/p/$1"
}

lint() { "$root/scripts/lint" "$tmp/p" >"$tmp/found" 2>/dev/null; }

# finds PATTERN: the lint fails and prints this.
finds() {
  lint && fail "the lint is green, without: $1"
  expect "finding '$1'" has_line "$tmp/found" "$1"
}

test_clean_project() {
  says "lint: a clean file gives no finding; banned words in comments and texts give none either"
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

test_first_failures() {
  says "count_cases: names each program that failed, with the first line that says why"
  cat >"$tmp/log" <<'END'
1/3 Testing: integration_a
Output:
----------------------------------------------------------
TEST CASE:  store: keeps what it was given
a_test.cpp:14: ERROR: CHECK( a == b ) is NOT correct!
a_test.cpp:15: ERROR: CHECK( c ) is NOT correct!
[doctest] test cases: 12 | 11 passed | 1 failed | 0 skipped
<end of output>
Test Failed.
2/3 Testing: fine
Test Passed.
3/3 Testing: drills_b
Output:
----------------------------------------------------------
drill one (1.0 s) FAILED: nobody leads
1 passed, 1 failed
<end of output>
Test Failed.
END
  /usr/bin/python3 "$root/scripts/lib/count_cases.py" --failed "$tmp/log" >"$tmp/failed"
  expect "two programs" has_lines "$tmp/failed" 2
  expect "doctest's first error" has_line "$tmp/failed" $'integration_a\t11\t1\ta_test.cpp:14: ERROR: CHECK( a == b )'
  expect "the drill's line" has_line "$tmp/failed" $'drills_b\t1\t1\tdrill one (1.0 s) FAILED: nobody leads'
}

# ctest_folder: tests whose first try fails; of the one named "flaky" the second passes.
ctest_folder() {
  mkdir -p "$tmp/c"
  cat >"$tmp/c/program" <<'END'
#!/bin/bash
[[ $1 == flaky && -e tried ]] && { echo "3 passed, 0 failed"; exit 0; }
touch tried
echo "drill $1 FAILED: too soon"
echo "2 passed, 1 failed"
exit 1
END
  chmod +x "$tmp/c/program"
  printf 'add_test(%s "%s/c/program" "%s")\n' flaky "$tmp" flaky flaky_not "$tmp" flaky_not >"$tmp/c/CTestTestfile.cmake"
}

test_second_try() {
  says "second try: a program that passes then is named and counted again, one that fails again stays failed"
  ctest_folder
  (cd "$tmp/c" && ctest >/dev/null 2>&1) && fail "the first try passed"
  (
    # shellcheck disable=SC2034
    scripts=$root/scripts
    # shellcheck source=scripts/lib/second_try.sh
    . "$root/scripts/lib/second_try.sh"
    root=$tmp total_passed=14 total_failed=2
    await_second_try "$tmp/c" "$tmp/c/Testing/Temporary/LastTest.log"
    run_second_tries
    tell_second_tries
    echo "$total_passed $total_failed"
  ) >"$tmp/out" 2>/dev/null
  expect "the named one alone" has_lines "$tmp/out" 2
  expect "its line" has_line "$tmp/out" '^second try: flaky: drill flaky FAILED: too soon$'
  expect "the counts" has_line "$tmp/out" '^15 1$'
}

run_all "$@"
