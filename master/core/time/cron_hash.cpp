#include "master/core/time/cron_hash.h"

namespace rota::master::core {
namespace {

/// FNV-1a, and a last step that spreads names which differ in their last letter
/// alone.
class Mixer {
 public:
  explicit Mixer(std::uint64_t hash) : hash_(hash) {}
  void add(std::string_view text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ull;
    hash_ = (hash_ ^ 0xff) * 1'099'511'628'211ull;  // no text has this byte, so it ends one
  }
  std::uint64_t value() const {
    std::uint64_t out = hash_;
    out = (out ^ (out >> 30)) * 0xBF58'476D'1CE4'E5B9ull;
    out = (out ^ (out >> 27)) * 0x94D0'49BB'1331'11EBull;
    return out ^ (out >> 31);
  }

 private:
  std::uint64_t hash_;
};

}  // namespace

std::uint64_t job_hash(std::string_view space, std::string_view name) {
  Mixer mixer(14'695'981'039'346'656'037ull);
  mixer.add(space);
  mixer.add(name);
  return mixer.value();
}

std::int64_t spread(std::uint64_t hash, std::string_view use, std::int64_t size) {
  Mixer mixer(hash);
  mixer.add(use);
  return static_cast<std::int64_t>(mixer.value() % static_cast<std::uint64_t>(size));
}

}  // namespace rota::master::core
