// The short form of a fuzzer, for every compiler: runs all seeds of a folder, then RUNS texts that a generator with
// a fixed seed derives from them. The long form uses libFuzzer (scripts/fuzz).
//
// usage: fuzz_NAME FOLDER RUNS      or      fuzz_NAME FILE   (one input again)
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kLongest = 4096;

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run(const std::string& input) {
  // Exactly as long as the input, so that a sanitizer detects a read of one byte too many.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  (void)LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

class Alterer {
 public:
  explicit Alterer(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  std::string next() {
    std::string text = any();
    for (std::size_t times = 1 + below(4); times > 0; --times) alter(text);
    text.resize(std::min(text.size(), kLongest));
    return text;
  }

 private:
  std::size_t below(std::size_t end) { return end == 0 ? 0 : dice_() % end; }
  const std::string& any() { return seeds_[below(seeds_.size())]; }
  std::string piece_of(const std::string& text) {
    const std::size_t from = below(text.size() + 1);
    return text.substr(from, below(std::min<std::size_t>(text.size() - from, 64) + 1));
  }

  void alter(std::string& text) {
    constexpr char kOften[] = "\n \t:-[]{}\"'#&*!|>%@`,?~0129azAZ.\\/L+\x00\xFF\xC3\xE4\x80";
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0: text.insert(at, 1, kOften[below(sizeof kOften - 1)]); break;
      case 1: text.erase(at, 1 + below(8)); break;
      case 2: text.insert(at, piece_of(any())); break;
      case 3: text.insert(at, piece_of(text)); break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      default: text.insert(at, std::string(1 + below(40), kOften[below(sizeof kOften - 1)])); break;
    }
  }

  const std::vector<std::string> seeds_;
  std::mt19937_64 dice_{20261122};
};

}  // namespace

int main(int count, char** words) {
  if (count == 2) {
    run(content_of(words[1]));
    return 0;
  }
  if (count != 3) return 2;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(words[1])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto& path : paths) seeds.push_back(content_of(path));
  if (seeds.empty()) return 2;
  for (const auto& seed : seeds) run(seed);
  const std::size_t runs = std::strtoul(words[2], nullptr, 10);
  Alterer alterer(seeds);
  for (std::size_t i = 0; i < runs; ++i) run(alterer.next());
  std::cout << seeds.size() << " seeds and " << runs << " altered texts: no fault\n";
  return 0;
}
