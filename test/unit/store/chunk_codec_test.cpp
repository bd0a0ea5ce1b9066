#include "master/store/logs/chunk_codec.h"

#include <doctest/doctest.h>
#include <zstd.h>

#include "master/store/logs/log_rules.h"

using namespace rota;
using namespace rota::master::store;

namespace {

std::string noise_of(std::size_t length) {
  std::string text;
  std::uint32_t seed = 7;
  while (text.size() < length) {
    seed = seed * 1'664'525 + 1'013'904'223;
    text += static_cast<char>(seed >> 24);
  }
  return text;
}

std::string frame_of(const std::string& bytes) {
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), 3));
  return frame;
}

}  // namespace

TEST_CASE("chunk codec: compresses when it saves enough, and restores every byte") {
  const std::string text(60'000, 'a');
  const auto packed = pack(text, true);
  CHECK(packed.codec == Codec::Zstd);
  CHECK(packed.content.size() < 200);
  CHECK(*unpack(1, packed.content, 60'000, crc_of(text)) == text);
  for (const std::string& plain : {std::string(), std::string(255, 'a'), noise_of(60'000)}) {
    const auto kept = pack(plain, true);
    CHECK(kept.codec == Codec::Plain);
    CHECK(*unpack(0, kept.content, static_cast<std::int64_t>(plain.size()), crc_of(plain)) == plain);
  }
  CHECK(pack(text, false).codec == Codec::Plain);
}

TEST_CASE("chunk codec: a frame that grows beyond its chunk is refused, whatever sizes it names") {
  const std::string bomb = frame_of(std::string(64 << 20, '\0'));
  REQUIRE(bomb.size() < 10'000);
  CHECK(unpack(1, bomb, 64 << 20, 0).error().code == ErrorCode::Corrupt);
  CHECK(unpack(1, bomb, kMostChunkBytes, 0).error().code == ErrorCode::Corrupt);
  CHECK(unpack(1, bomb, -1, 0).error().code == ErrorCode::Corrupt);
  const std::string text(5000, 'a');
  CHECK(unpack(1, frame_of(text), 4999, crc_of(text)).error().code == ErrorCode::Corrupt);
  CHECK(unpack(1, frame_of(text), 5001, crc_of(text)).error().code == ErrorCode::Corrupt);
}

TEST_CASE("chunk codec: damage of any byte is seen") {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string frame = pack(text, true).content;
  const auto length = static_cast<std::int64_t>(text.size());
  REQUIRE(unpack(1, frame, length, crc_of(text)));
  for (std::size_t at = 0; at < frame.size(); ++at) {
    std::string flipped = frame;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
    const auto got = unpack(1, flipped, length, crc_of(text));
    if (got) CHECK(*got == text);  // a bit that means nothing
  }
  CHECK_FALSE(unpack(1, frame.substr(0, frame.size() / 2), length, crc_of(text)));
  CHECK_FALSE(unpack(0, text.substr(1), length, crc_of(text)));
  CHECK_FALSE(unpack(9, text, length, crc_of(text)));
}
