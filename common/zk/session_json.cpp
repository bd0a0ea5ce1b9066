#include "common/zk/session_json.h"

#include <nlohmann/json.hpp>

namespace rota::zk {

using nlohmann::json;

namespace {

constexpr char kDigits[] = "0123456789abcdef";

std::string to_hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

std::optional<std::string> from_hex(const std::string& hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  const std::string_view digits(kDigits);
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const auto high = digits.find(hex[i]);
    const auto low = digits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out.push_back(static_cast<char>(high << 4 | low));
  }
  return out;
}

bool has_all_fields(const json& one) {
  const auto is = [&](const char* name, auto test) {
    const auto found = one.find(name);
    return found != one.end() && test(*found);
  };
  const auto text = [](const json& value) { return value.is_string(); };
  const auto number = [](const json& value) { return value.is_number_integer(); };
  return one.is_object() && is("cluster_uuid", text) && is("addresses", text) &&
         is("session_id", number) && is("password", text) && is("pid", number) &&
         is("start_ticks", number) && is("boot_id", text) && is("pid_namespace", text);
}

std::optional<SessionRecord> record_in(const json& one) {
  if (!has_all_fields(one)) return std::nullopt;
  auto password = from_hex(one["password"].get<std::string>());
  if (!password || password->size() != 16) return std::nullopt;
  SessionRecord record;
  record.cluster_uuid = one["cluster_uuid"].get<std::string>();
  record.addresses = one["addresses"].get<std::string>();
  record.credentials = {one["session_id"].get<SessionId>(), std::move(*password)};
  record.pid = one["pid"].get<pid_t>();
  record.start_ticks = one["start_ticks"].get<std::uint64_t>();
  record.boot_id = one["boot_id"].get<std::string>();
  record.pid_namespace = one["pid_namespace"].get<std::string>();
  return record;
}

}  // namespace

std::string session_records_to_json(const std::vector<SessionRecord>& records) {
  json sessions = json::array();
  for (const auto& record : records) {
    sessions.push_back({{"cluster_uuid", record.cluster_uuid},
                        {"addresses", record.addresses},
                        {"session_id", record.credentials.id},
                        {"password", to_hex(record.credentials.password)},
                        {"pid", record.pid},
                        {"start_ticks", record.start_ticks},
                        {"boot_id", record.boot_id},
                        {"pid_namespace", record.pid_namespace}});
  }
  return json{{"sessions", sessions}}.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<std::vector<SessionRecord>> session_records_from_json(const std::string& text) {
  const json parsed = json::parse(text, nullptr, false);
  const auto bad = [] { return fail(ErrorCode::Corrupt, "the session file is not readable"); };
  if (!parsed.is_object() || !parsed.contains("sessions") || !parsed["sessions"].is_array()) {
    return bad();
  }
  std::vector<SessionRecord> records;
  for (const auto& one : parsed["sessions"]) {
    auto record = record_in(one);
    if (!record) return bad();
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace rota::zk
