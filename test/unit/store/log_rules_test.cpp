#include "master/store/logs/log_rules.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::master::store;

TEST_CASE("log rules: the CRC is zlib's") {
  CHECK(crc_of("123456789") == 0xCBF43926u);
  CHECK(crc_of("") == 0u);
}

TEST_CASE("log rules: the end goes on over cut bytes and stops at holes") {
  EndFinder finder;
  finder.pass({0, 3, 0});
  finder.pass({10, 2, 7});
  CHECK(finder.end() == 12);
  finder.pass({13, 5, 0});
  CHECK(finder.end() == 12);
  EndFinder later(12);
  later.pass({12, 1, 0});
  later.pass({13, 5, 0});
  CHECK(later.end() == 18);
}

TEST_CASE("log rules: a slice takes no more than its limit, from the middle of a chunk too") {
  SliceBuilder builder(2, 5);
  CHECK(builder.pass({0, 4, 0}, "abcd", wall_from_ms(7)));
  CHECK_FALSE(builder.pass({4, 9, 0}, "efghijklm", wall_from_ms(8)));
  const auto slice = builder.finish(13);
  CHECK(slice.bytes == "cdefg");
  CHECK(slice.next_offset == 7);
  CHECK(slice.stored_end == 13);
  CHECK_FALSE(slice.gap);
  REQUIRE(slice.pieces.size() == 2);
  CHECK(slice.pieces[1].offset == 4);
  CHECK(slice.pieces[1].length == 3);
  CHECK(slice.pieces[1].received == wall_from_ms(8));
}

TEST_CASE("log rules: chunks that can not be are refused") {
  LogChunk chunk;
  CHECK(check_chunk(chunk));
  chunk.dropped_before = 1;
  CHECK(check_chunk(chunk).error().code == ErrorCode::InvalidArgument);
  chunk.offset = 1;
  CHECK(check_chunk(chunk));
  chunk.crc32 = 1;
  CHECK(check_chunk(chunk).error().code == ErrorCode::Corrupt);
}
