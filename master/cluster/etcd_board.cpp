#include "master/cluster/etcd_board.h"

#include <charconv>

#include "common/base/base64.h"

namespace rota::master::cluster {

using nlohmann::json;

namespace {

constexpr std::size_t kLeaseDigits = 15;  // 60 bits: positive as int64

/// The gateway writes 64-bit numbers as texts, and leaves out what is 0.
std::int64_t number_in(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  if (found->is_number_integer()) return found->get<std::int64_t>();
  std::int64_t value = 0;
  if (!found->is_string()) return 0;
  const auto& text = found->get_ref<const std::string&>();
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// A candidate chooses the number of its lease itself, by its random tag: so an answer that was lost leaves
/// no lease that nobody knows.
std::int64_t lease_of(const std::string& tag) {
  std::int64_t value = 0;
  const std::size_t digits = std::min(tag.size(), kLeaseDigits);
  (void)std::from_chars(tag.data(), tag.data() + digits, value, 16);
  return value | 1;
}

json compare(const std::string& key, const char* target, const char* field, std::int64_t value) {
  return {{"key", key}, {"target", target}, {"result", "EQUAL"}, {field, std::to_string(value)}};
}

bool has_succeeded(const json& answer) { return answer.value("succeeded", json()) == true; }

}  // namespace

EtcdBoard::EtcdBoard(EtcdServers servers, std::string key, std::chrono::seconds lease)
    : client_(std::move(servers)), key_(base64_of(key)), lease_s_(lease.count()) {}

EtcdBoard::Key EtcdBoard::key_in(const json& range) {
  const auto kvs = range.find("kvs");
  if (kvs == range.end() || !kvs->is_array() || kvs->empty() || !kvs->front().is_object()) return {};
  const json& kv = kvs->front();
  const auto value = kv.find("value");
  Key key{number_in(kv, "lease"), {}};
  if (value != kv.end() && value->is_string()) {
    key.words = from_base64(value->get_ref<const std::string&>()).value_or("");
  }
  if (key.lease == 0) key.lease = -1;  // made by hand, without a lease: nobody's, but it stands
  return key;
}

Result<EtcdBoard::Key> EtcdBoard::read() {
  auto range = client_.post("/v3/kv/range", json::object({{"key", key_}}));
  if (!range) return fail(range.error());
  return key_in(*range);
}

Result<LeaseSight> EtcdBoard::look() {
  auto key = read();
  if (!key) return fail(key.error());
  return LeaseSight{false, key->words};
}

Result<LeaseSight> EtcdBoard::hold(const std::string& tag, const std::string& words) {
  const std::int64_t lease = lease_of(tag);
  auto key = read();
  if (!key) return fail(key.error());
  if (key->lease == lease) return go_on(lease, *key, words);
  if (key->lease == -1) {
    return fail(ErrorCode::Conflict, "the key of the election in etcd has no lease, so that it would stay "
                                     "forever; no master has made it: delete it");
  }
  if (key->lease != 0) return LeaseSight{false, key->words};
  return make(lease, words);
}

/// A lease that has ended meanwhile has taken the key along: free, and the next call makes another.
Result<LeaseSight> EtcdBoard::go_on(std::int64_t lease, const Key& key, const std::string& words) {
  auto kept = keep_alive(lease);
  if (!kept) return fail(kept.error());
  if (!*kept) return LeaseSight{};
  if (key.words == words) return LeaseSight{true, words};
  auto put = client_.post("/v3/kv/txn", {{"compare", json::array({compare(key_, "LEASE", "lease", lease)})},
                                         {"success", json::array({this->put(lease, words)})}});
  if (!put) return fail(put.error());
  return has_succeeded(*put) ? LeaseSight{true, words} : LeaseSight{};
}

Result<LeaseSight> EtcdBoard::make(std::int64_t lease, const std::string& words) {
  if (auto granted = grant(lease); !granted) return fail(granted.error());
  const json read = {{"request_range", json::object({{"key", key_}})}};
  const json is_none = compare(key_, "CREATE", "create_revision", 0);
  auto made = client_.post("/v3/kv/txn", {{"compare", json::array({is_none})},
                                          {"success", json::array({put(lease, words)})},
                                          {"failure", json::array({read})}});
  if (!made) return fail(made.error());
  if (has_succeeded(*made)) return LeaseSight{true, words};
  const auto responses = made->find("responses");
  Key key;
  if (responses != made->end() && responses->is_array() && !responses->empty()) {
    key = key_in(responses->front().value("response_range", json::object()));
  }
  return LeaseSight{key.lease == lease, key.words};
}

Result<void> EtcdBoard::grant(std::int64_t lease) {
  auto granted = client_.post("/v3/lease/grant",
                              {{"TTL", std::to_string(lease_s_)}, {"ID", std::to_string(lease)}});
  if (granted) return {};
  if (granted.error().code != ErrorCode::AlreadyExists) return fail(granted.error());
  auto kept = keep_alive(lease);  // granted by an earlier call, whose answer was lost
  if (!kept) return fail(kept.error());
  if (*kept) return {};
  return fail(ErrorCode::Unavailable, "the lease in etcd has just ended");
}

/// False: there is no such lease any more.
Result<bool> EtcdBoard::keep_alive(std::int64_t lease) {
  auto kept = client_.post("/v3/lease/keepalive", json::object({{"ID", std::to_string(lease)}}));
  if (!kept) return fail(kept.error());
  return number_in(kept->value("result", json::object()), "TTL") > 0;
}

Result<void> EtcdBoard::release(const std::string& tag) {
  auto revoked = client_.post("/v3/lease/revoke", json::object({{"ID", std::to_string(lease_of(tag))}}));
  if (revoked || revoked.error().code == ErrorCode::NotFound) return {};
  return fail(revoked.error());
}

json EtcdBoard::put(std::int64_t lease, const std::string& words) const {
  return {{"request_put",
           {{"key", key_}, {"value", base64_of(words)}, {"lease", std::to_string(lease)}}}};
}

}  // namespace rota::master::cluster
