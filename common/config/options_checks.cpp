// Checks of single values.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <optional>

#include "common/config/load.h"
#include "common/config/options_table.h"
#include "common/config/yaml_reader.h"

namespace rota::config {
namespace {

/// An IPv6 address, or an IPv4 address in the last four of the sixteen bytes (::ffff:a.b.c.d).
struct Ip {
  std::array<unsigned char, 16> bytes{};
  bool is_v4 = false;
};

std::optional<Ip> ip_from(const std::string& text) {
  Ip ip;
  if (inet_pton(AF_INET, text.c_str(), ip.bytes.data() + 12) == 1) {
    ip.bytes[10] = ip.bytes[11] = 0xff;
    ip.is_v4 = true;
    return ip;
  }
  if (inet_pton(AF_INET6, text.c_str(), ip.bytes.data()) == 1) return ip;
  return std::nullopt;
}

struct Network {
  Ip address;
  int bits = 0;  ///< of the sixteen bytes
};

std::optional<Network> network_from(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto address = ip_from(text.substr(0, slash));
  const auto bits = integer_from(text.substr(slash + 1));
  if (!address || !bits || *bits < 0 || *bits > (address->is_v4 ? 32 : 128)) return std::nullopt;
  return Network{*address, static_cast<int>(*bits) + (address->is_v4 ? 96 : 0)};
}

bool lies_in(const Ip& ip, const Network& network) {
  if (ip.is_v4 != network.address.is_v4) return false;
  for (int bit = 0; bit < network.bits; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((ip.bytes[byte] & mask) != (network.address.bytes[byte] & mask)) return false;
  }
  return true;
}

bool all_of(const std::string& text, std::string_view punctuation) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           punctuation.find(c) != std::string_view::npos;
  });
}

bool is_host_and_port(const std::string& part) {
  const auto colon = part.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const auto port = integer_from(part.substr(colon + 1));
  return port && *port >= 1 && *port <= 65535 && all_of(part.substr(0, colon), ".-_:[]");
}

}  // namespace

std::string check_name(const std::string& value) {
  if (value.size() <= 63 && all_of(value, "._-") &&
      (value.empty() || std::isalnum(static_cast<unsigned char>(value.front())) != 0)) {
    return "";
  }
  return "is no name; write 1 to 63 letters, digits, '.', '_' or '-', a letter or digit first";
}

std::string check_cluster(const std::string& value) {
  const bool lower = std::none_of(value.begin(), value.end(), [](char c) {
    return std::isupper(static_cast<unsigned char>(c)) != 0;
  });
  if (!value.empty() && value.size() <= 32 && lower && all_of(value, "-") && value[0] != '-') {
    return "";
  }
  return "is no name of a cluster; write 1 to 32 of a to z, 0 to 9 and '-'";
}

std::string check_path(const std::string& value) {
  if (value.empty() || value.front() == '/') return "";
  return "is relative; write a path that begins with /";
}

std::string check_connect(const std::string& value) {
  std::size_t at = 0;
  while (at <= value.size()) {
    const auto comma = std::min(value.find(',', at), value.size());
    if (!is_host_and_port(value.substr(at, comma - at))) {
      return "is no list of servers; write host:port, separated by commas without spaces";
    }
    at = comma + 1;
  }
  return "";
}

std::string check_bind(const std::string& value) {
  if (value == "localhost" || ip_from(value)) return "";
  return "is no address of this host; write an IP address, like 127.0.0.1 or 0.0.0.0";
}

std::string check_network(const std::string& value) {
  if (network_from(value)) return "";
  return "is no network; write an address and its bits, like 10.0.0.0/8";
}

std::string check_word(const std::string& value) {
  if (!value.empty() && value.size() <= 64 && all_of(value, "_")) return "";
  return "is no word; write 1 to 64 letters, digits or '_'";
}

std::string check_log_store(const std::string& value) {
  if (value == "mysql" || value == "folder") return "";
  return "is no store for logs; write mysql or folder";
}

std::string check_elector(const std::string& value) {
  if (value == "zookeeper" || value == "mysql" || value == "etcd") return "";
  return "is no elector; write zookeeper, mysql or etcd";
}

std::string check_endpoint(const std::string& value) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!value.starts_with(scheme)) continue;
    const std::string place = value.substr(scheme.size());
    if (place.find(',') == std::string::npos && check_connect(place).empty()) return "";
  }
  return "is no endpoint; write http://host:port or https://host:port, without a path";
}

std::string check_host(const std::string& value) {
  const bool has_port = value.find(':') != std::string::npos;
  const bool fits = has_port ? is_host_and_port(value) : !value.empty() && check_no_space(value).empty();
  return fits && value.find(',') == std::string::npos ? "" : "is no server; write its host, or host:port";
}

std::string check_no_space(const std::string& value) {
  const bool printable = std::all_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
  });
  return printable && value.size() <= 255 ? ""
                                          : "contains spaces or is longer than 255; leave them out";
}

bool is_loopback(const std::string& host) { return lies_in(host, {"127.0.0.0/8", "::1/128"}); }

bool lies_in(const std::string& host, const std::vector<std::string>& networks) {
  const auto ip = ip_from(host == "localhost" ? "127.0.0.1" : host);
  if (!ip) return false;
  return std::any_of(networks.begin(), networks.end(), [&](const std::string& text) {
    const auto network = network_from(text);
    return network && lies_in(*ip, *network);
  });
}

}  // namespace rota::config
