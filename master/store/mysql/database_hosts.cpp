#include "master/store/mysql/database_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace rota::master::store {

std::string text_of(const DatabaseHost& host) { return fmt::format("{}:{}", host.host, host.port); }

DatabaseHost database_host_named(std::string_view text, std::uint16_t default_port) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {std::string(text), default_port};
  DatabaseHost named{std::string(text.substr(0, colon)), default_port};
  const std::string_view digits = text.substr(colon + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), named.port);
  return named;
}

bool is_host_unusable(int sql_error) {
  switch (sql_error) {
    case 1040:                          // too many connections
    case 1047:                          // a Galera node that is not prepared
    case 1053:                          // it ends
    case 1290: case 1792: case 1836:    // read-only
    case 2002: case 2003: case 2005:    // no connection
    case 2006: case 2013: case 2055:    // the connection is lost, or no answer came in time
      return true;
    default:
      return false;
  }
}

bool is_host_behind(int sql_error) {
  return sql_error == 1047 || sql_error == 1290 || sql_error == 1792 || sql_error == 1836;
}

DatabaseHosts::DatabaseHosts(std::vector<DatabaseHost> hosts) {
  for (auto& host : hosts) places_.push_back({std::move(host)});
}

std::vector<DatabaseHost> DatabaseHosts::in_order(MonoTime now) const {
  std::vector<Place> places;
  {
    const std::scoped_lock lock(mutex_);
    places = places_;
  }
  const auto is_fine = [&](const Place& place) { return place.last_until <= now; };
  std::stable_partition(places.begin(), places.end(), is_fine);
  std::vector<DatabaseHost> order;
  for (Place& place : places) order.push_back(std::move(place.host));
  return order;
}

void DatabaseHosts::note_failure(const DatabaseHost& host, MonoTime now, int sql_error) {
  const std::scoped_lock lock(mutex_);
  const auto failed = std::ranges::find(places_, host, &Place::host);
  if (failed == places_.end()) return;
  failed->last_until = now + kAskedLastFor;
  if (is_host_behind(sql_error) && places_.size() > 1) ++failed->times_behind;
}

int DatabaseHosts::times_behind(const DatabaseHost& host) const {
  const std::scoped_lock lock(mutex_);
  const auto place = std::ranges::find(places_, host, &Place::host);
  return place == places_.end() ? 0 : place->times_behind;
}

void DatabaseHosts::note_use(const DatabaseHost& host) {
  const std::scoped_lock lock(mutex_);
  const auto used = std::ranges::find(places_, host, &Place::host);
  if (used != places_.end()) used->last_until = MonoTime{};
  in_use_ = text_of(host);
}

std::string DatabaseHosts::in_use() const {
  const std::scoped_lock lock(mutex_);
  return in_use_;
}

}  // namespace rota::master::store
