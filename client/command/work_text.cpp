#include "client/command/work_text.h"

#include <job_types.h>

#include <algorithm>
#include <string_view>

#include "common/base/utf8.h"

namespace rota::client {

namespace {

constexpr std::size_t kMostBytes = 200;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./:=@%+,").find(c) != std::string_view::npos;
}

std::string quoted(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') out += "'\\'";
    out += c;
  }
  return out + "'";
}

std::string cut(std::string text) {
  if (text.size() <= kMostBytes) return text;
  return std::string(cut_text(text, kMostBytes)) + " ...";
}

std::string script_text(const thrift::Work& work) {
  const std::size_t end = work.script.find('\n');
  const bool is_more = end != std::string::npos && end + 1 < work.script.size();
  return cut(work.interpreter + " script: " + work.script.substr(0, end)) + (is_more ? " ..." : "");
}

}  // namespace

std::string work_text(const thrift::Work& work) {
  if (work.handler != "command") return "handler " + work.handler;
  if (!work.script.empty()) return script_text(work);
  std::string out;
  for (const std::string& word : work.argv) {
    if (!out.empty()) out += ' ';
    out += quoted(word);
    if (out.size() > kMostBytes) break;
  }
  return cut(std::move(out));
}

}  // namespace rota::client
