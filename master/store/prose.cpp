#include "master/store/prose.h"

#include "common/base/utf8.h"

namespace rota::master::store {

bool is_clean_prose(std::string_view text, std::size_t most_bytes) {
  return text.size() <= most_bytes && is_utf8(text);
}

std::string clean_prose(std::string_view text, std::size_t most_bytes) {
  return clean_text(text, most_bytes);
}

}  // namespace rota::master::store
