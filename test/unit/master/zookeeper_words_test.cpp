#include "master/upkeep/zookeeper_words.h"

#include <doctest/doctest.h>

using namespace rota::master;

TEST_CASE("ZooKeeper's word: ok while connected and nothing is wrong") {
  CHECK(zookeeper_word({true, {}, {}}) == "ok");
  CHECK(zookeeper_word({false, {"/rota/c/election/n_1"}, {}}) == "not connected; scheduling goes on");
}

TEST_CASE("ZooKeeper's word: a node that no session owns is counted and named, with the remedy") {
  CHECK(zookeeper_word({true, {"/rota/c/workers/w1@h-1"}, {}}) ==
        "1 node that no session owns counts as nobody: delete the node /rota/c/workers/w1@h-1");
  CHECK(zookeeper_word({true, {"/a", "/b", "/c", "/d", "/e"}, {}}) ==
        "5 nodes that no session owns count as nobody: delete the nodes /a, /b, /c and 2 more");
}

TEST_CASE("ZooKeeper's word: who is awaited since its data were lost is named") {
  CHECK(zookeeper_word({true, {}, {"w1@h-1", "w2@h-2"}}) ==
        "it lost data, or came back with older ones; 2 of the workers known before are not registered again yet: "
        "w1@h-1, w2@h-2");
}
