#include "master/store/mysql/multi_row.h"

#include <doctest/doctest.h>

#include <vector>

using namespace rota::master::store;

namespace {

std::vector<std::size_t> chunks_of(std::size_t rows, std::size_t bytes_each) {
  std::vector<std::size_t> sizes;
  for (std::size_t first = 0; first < rows;) {
    sizes.push_back(next_chunk(first, rows - first, [&](std::size_t) { return bytes_each; }));
    first += sizes.back();
  }
  return sizes;
}

using Sizes = std::vector<std::size_t>;

}  // namespace

TEST_CASE("multi row: any number of rows is a handful of size classes") {
  CHECK(chunks_of(1, 10) == Sizes{1});
  CHECK(chunks_of(500, 10) == Sizes{384, 96, 16, 4});
  CHECK(chunks_of(11, 10) == Sizes{8, 3});
  CHECK(chunks_of(3, 10) == Sizes{3});
  CHECK(chunks_of(1025, 10) == Sizes{512, 512, 1});
  CHECK(chunks_of(0, 10).empty());
}

TEST_CASE("multi row: long rows make smaller statements, the longest one of its own") {
  CHECK(chunks_of(8, 1 << 20) == Sizes{4, 4});
  CHECK(chunks_of(3, 64 << 20) == Sizes{1, 1, 1});
}
