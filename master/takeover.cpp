#include "master/takeover.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/zk/cluster_nodes.h"

namespace rota::master {
namespace {

std::string stored_path(const zk::Paths& paths) { return paths.root() + "/epoch_stored"; }

/// Stands from the moment at which a database that went back was noticed until that is accepted: the
/// first takeover after it raises the database's epoch, so that no later one could tell.
std::string restored_path(const zk::Paths& paths) { return paths.root() + "/database_went_back"; }

/// Numbers, each separated from the one before by one space; empty: no such thing.
std::vector<std::int64_t> numbers_in(const std::string& text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const last = text.data() + text.size();
  while (true) {
    const auto [end, problem] = std::from_chars(at, last, numbers.emplace_back());
    if (problem != std::errc{}) return {};
    if (end == last) return numbers;
    if (*end != ' ') return {};
    at = end + 1;
  }
}

/// "EPOCH", as older masters wrote it, "EPOCH WATERMARK_MS", or while a slice of time is being recorded
/// "EPOCH WATERMARK_MS REACHING_MS JOB", which keeps a master from office that could not go on with it.
Result<StoredMark> mark_in(const std::string& text, const std::string& path) {
  const auto numbers = numbers_in(text);
  const auto when = [&numbers](std::size_t i) { return wall_from_ms(numbers[i]); };
  if (numbers.size() == 1) return StoredMark{Epoch{numbers[0]}, std::nullopt};
  if (numbers.size() == 2) return StoredMark{Epoch{numbers[0]}, when(1)};
  if (numbers.size() == 4) {
    return StoredMark{Epoch{numbers[0]}, core::Watermark(when(1), when(2), JobId{numbers[3]})};
  }
  return fail(ErrorCode::Corrupt, fmt::format("{} holds no epoch and watermark", path));
}

std::string text_of(const StoredMark& mark) {
  if (!mark.watermark) return std::to_string(mark.epoch.value);
  const core::Watermark& w = *mark.watermark;
  if (!w.is_parted()) return fmt::format("{} {}", mark.epoch.value, to_ms(w.through));
  return fmt::format("{} {} {} {}", mark.epoch.value, to_ms(w.through), to_ms(w.reaching), w.job.value);
}

Result<StoredMark> read_stored(zk::Client& client, const zk::Paths& paths) {
  auto node = client.get(stored_path(paths), zk::Watch::No);
  if (!node) {
    if (node.error().code == ErrorCode::NotFound) return StoredMark{};
    return fail(node.error());
  }
  return mark_in(node->data, stored_path(paths));
}

/// Whether ticks are to be held because the database went back, now or at an earlier takeover. It is
/// written down before this takeover raises the database's epoch.
Result<bool> notice_restore(zk::Client& client, const zk::Paths& paths, const StoredMark& in_database,
                            const StoredMark& known) {
  auto held = is_restore_held(client, paths);
  if (!held || *held) return held;
  if (in_database >= known) return false;
  log_error("term", "the database went back: it lacks what it was led with; ticks are held",
            {{"epoch_and_watermark", text_of(in_database)}, {"led_with", text_of(known)}});
  if (auto raised = raise_restore_alarm(client, paths, in_database.epoch); !raised) {
    return fail(raised.error());
  }
  return true;
}

/// Read in several statements: a master that took office meanwhile may have come between them.
Result<core::Recovered> recover_alone(store::Office& store, Epoch epoch) {
  auto recovered = store.recover();
  if (!recovered) return recovered;
  auto now = store.read_marks();
  if (!now) return fail(now.error());
  if (now->epoch == epoch) return recovered;
  return fail(ErrorCode::Conflict, fmt::format("epoch {} was taken meanwhile", now->epoch.value));
}

struct Uuid {
  std::string value;
  bool zookeeper_is_new = false;
};

/// The uuid lives in both; the first master of a new cluster makes it, in ZooKeeper once it has taken office.
Result<Uuid> settle_uuid(zk::Client& client, const zk::Paths& paths, store::Office& store) {
  auto in_zookeeper = zk::read_cluster_uuid(client, paths);
  if (!in_zookeeper) return fail(in_zookeeper.error());
  auto standing = store.settle_uuid(in_zookeeper->value_or(random_hex(16)));
  if (!standing) return fail(standing.error());
  if (!*in_zookeeper) return Uuid{*standing, true};
  if (**in_zookeeper != *standing) {
    return fail(ErrorCode::Conflict,
                fmt::format("ZooKeeper at {} belongs to cluster {} but the database to {}; point "
                            "zookeeper.connect, cluster and database.name at the same cluster",
                            paths.root(), **in_zookeeper, *standing));
  }
  return Uuid{*standing, false};
}

}  // namespace

Result<Office> take_office(zk::Client& client, const zk::Paths& paths, store::Office& store,
                           const Candidate& candidate) {
  if (auto made = zk::ensure_cluster(client, paths); !made) return fail(made.error());
  auto uuid = settle_uuid(client, paths, store);
  if (!uuid) return fail(uuid.error());
  auto in_zookeeper = zk::read_epoch(client, paths);
  if (!in_zookeeper) return fail(in_zookeeper.error());
  // Before the database's: the other way round, what a leader stores in between looks like a loss.
  auto noted = read_stored(client, paths);
  if (!noted) return fail(noted.error());
  auto marks = store.read_marks();
  if (!marks) return fail(marks.error());
  auto restored = notice_restore(client, paths, {marks->epoch, marks->watermark},
                                 std::max(*noted, candidate.stored));
  if (!restored) return fail(restored.error());

  Office office;
  office.epoch = Epoch{std::max(in_zookeeper->epoch.value, marks->epoch.value) + 1};
  office.cluster_uuid = uuid->value;
  office.zookeeper_is_new = uuid->zookeeper_is_new && marks->epoch.value > 0;
  if (office.zookeeper_is_new) {
    log_error("term", "ZooKeeper does not know this cluster, its data were lost; nobody counts as dead "
              "for one worker session", {{"cluster_uuid", office.cluster_uuid}});
  }
  auto grant = store.settle_grant(candidate.grant);
  if (!grant) return fail(grant.error());
  office.longest_grant = *grant;
  auto written = zk::write_epoch(client, paths, office.epoch, *in_zookeeper);
  if (!written) return fail(written.error());
  if (auto taken = store.take_office(office.epoch, candidate.id); !taken) {
    if (taken.error().retry != Retry::Unknown) return fail(taken.error());
    auto now = store.read_marks();
    if (!now || now->epoch != office.epoch) return fail(taken.error());
  }
  auto recovered = recover_alone(store, office.epoch);
  if (!recovered) return fail(recovered.error());
  office.recovered = std::move(*recovered);
  office.recovered.database_went_back = *restored;
  // Last: a takeover that fails on the way must not hide from the next one that ZooKeeper was new.
  if (uuid->zookeeper_is_new) {
    auto made = zk::create_cluster_uuid(client, paths, uuid->value);
    if (!made) return fail(made.error());
  }
  return office;
}

Result<void> note_stored(zk::Client& client, const zk::Paths& paths, const StoredMark& mark) {
  const std::string path = stored_path(paths);
  auto node = client.get(path, zk::Watch::No);
  if (node) {
    const auto noted = mark_in(node->data, path);
    if (noted && *noted >= mark) return {};  // by a later leader
    auto set = client.set(path, text_of(mark), node->stat.version);
    return set ? Result<void>() : fail(set.error());
  }
  if (node.error().code != ErrorCode::NotFound) return fail(node.error());
  auto made = client.create(path, text_of(mark), zk::CreateMode::Persistent);
  return made ? Result<void>() : fail(made.error());
}

Result<void> raise_restore_alarm(zk::Client& client, const zk::Paths& paths, Epoch epoch) {
  auto made = client.create(restored_path(paths), std::to_string(epoch.value),
                            zk::CreateMode::Persistent);
  if (!made && made.error().code != ErrorCode::AlreadyExists) return fail(made.error());
  return {};
}

Result<bool> is_restore_held(zk::Client& client, const zk::Paths& paths) {
  auto node = client.exists(restored_path(paths), zk::Watch::No);
  if (!node) return fail(node.error());
  return node->has_value();
}

Result<void> accept_restore(zk::Client& client, const zk::Paths& paths) {
  for (const std::string& path : {stored_path(paths), restored_path(paths)}) {
    auto removed = client.remove(path);
    if (!removed && removed.error().code != ErrorCode::NotFound) return fail(removed.error());
  }
  return {};
}

}  // namespace rota::master
