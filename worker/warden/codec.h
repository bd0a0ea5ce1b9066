// Bytes in and out of a message: fixed little-endian numbers, strings with a 32-bit length. The
// reader never reads past the end: once something does not fit it yields zeros and says so in ok().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace rota::worker::warden {

class ByteWriter {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      out_.push_back(static_cast<char>(bits & 0xff));
      bits >>= 8;
    }
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    out_.append(value);
  }
  std::string finish() { return std::move(out_); }

 private:
  std::string out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    static_assert(std::is_integral_v<T>);
    if (rest_.size() < sizeof(T)) return refuse<T>();
    std::uint64_t bits = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) {
      bits = (bits << 8) | static_cast<unsigned char>(rest_[i]);
    }
    rest_.remove_prefix(sizeof(T));
    return static_cast<T>(bits);
  }
  /// A number that names a value of an enum, none above `last`.
  template <typename E>
  E named(E last) {
    const auto raw = number<std::underlying_type_t<E>>();
    if (raw > static_cast<std::underlying_type_t<E>>(last)) return E{refuse<std::uint8_t>()};
    return static_cast<E>(raw);
  }
  bool flag() {
    const auto raw = number<std::uint8_t>();
    return raw > 1 ? refuse<bool>() : raw == 1;
  }
  std::string text(std::size_t most) {
    const auto size = number<std::uint32_t>();
    if (size > most || size > rest_.size()) return refuse<std::string>();
    std::string out(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return out;
  }
  /// A count of things of which each takes at least `least` bytes, so that no count can ask for more
  /// memory than the message itself has.
  std::uint32_t count(std::size_t least) {
    const auto value = number<std::uint32_t>();
    return value > rest_.size() / least ? refuse<std::uint32_t>() : value;
  }
  /// More bytes follow: a field that older writers did not know.
  bool has_more() const { return !rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  template <typename T>
  T refuse() {
    ok_ = false;
    rest_ = {};
    return T{};
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace rota::worker::warden
