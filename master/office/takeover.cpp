#include "master/office/takeover.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/zk/cluster_nodes.h"
#include "master/office/zookeeper_look.h"
#include "master/office/zookeeper_word.h"
#include "master/store/runs_without_job.h"

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

/// Whether office may be taken through this ZooKeeper.
Result<OfficeRuling> rule(zk::Client& client, const zk::Paths& paths, store::Office& store,
                          const Candidate& candidate, const ZookeeperLook& look) {
  OfficeFacts facts;
  facts.belonging = look.belonging;
  facts.quiet_needed = candidate.quiet_needed;
  if (candidate.quiet) facts.quiet = candidate.quiet(look.marks);
  const auto& known = look.marks.zookeeper;
  const bool is_strange = look.belonging == Belonging::Replaced || look.belonging == Belonging::Behind;
  if (is_strange || (known && known->wait_below > 0)) {
    auto word = read_word(client, paths, look.marks.epoch);
    if (!word) return fail(word.error());
    facts.word = *word;
  }
  if (is_strange) {
    auto held = store.count_held();
    if (!held) return fail(held.error());
    facts.held = *held;
  }
  const OfficeRuling ruling = rule_office(facts);
  const bool is_held_off = ruling == OfficeRuling::HoldLed || ruling == OfficeRuling::HoldUnfinished ||
                           ruling == OfficeRuling::Refuse;
  if (!is_held_off) return ruling;
  return fail(ErrorCode::Fenced, words_of_hold(ruling, facts, look.marks, paths.root()));
}

/// What the claim writes of ZooKeeper: nothing while it is the one that stands.
Result<std::optional<store::KnownZookeeper>> mark_zookeeper(zk::Client& client, const zk::Paths& paths,
                                                            OfficeRuling ruling,
                                                            const ZookeeperLook& look) {
  if (ruling == OfficeRuling::Take) return std::optional<store::KnownZookeeper>{};
  // One that is behind may have a copy: from now on the two can be told apart.
  const bool keeps = look.identity && look.belonging != Belonging::Behind;
  auto identity = keeps ? Result<zk::Identity>(*look.identity) : zk::renew_identity(client, paths);
  if (!identity) return fail(identity.error());
  return std::optional(zookeeper_after(ruling, *identity, look.marks.zookeeper));
}

Result<void> may_lead(const Candidate& candidate) {
  return candidate.may_lead ? candidate.may_lead() : Result<void>();
}

void tell(OfficeRuling ruling, const ZookeeperLook& look, const zk::Paths& paths) {
  if (ruling == OfficeRuling::Take || look.marks.epoch == Epoch{0}) return;
  const bool by_operator = ruling != OfficeRuling::Adopt;
  if (ruling == OfficeRuling::TakeAndMark) {
    log_info("term", "ZooKeeper's identity is written down", {{"zookeeper", paths.root()}});
    return;
  }
  log_warn("term",
           by_operator ? "this ZooKeeper is the database's from now on, by the operator's word"
                       : "this ZooKeeper is the database's from now on: nobody leads and nothing runs",
           {{"zookeeper", paths.root()}, {"led_by", look.marks.holder.name},
            {"at", look.marks.holder.address}, {"epoch", look.marks.epoch.value}});
}

}  // namespace

Result<Office> enter_office(zk::Client& client, const zk::Paths& paths, store::Office& store,
                           const Candidate& candidate) {
  const MonoTime begun = BootClock::now();
  if (auto made = zk::ensure_cluster(client, paths); !made) return fail(made.error());
  // Before the database's: the other way round, what a leader stores in between looks like a loss.
  if (auto synced = client.sync(paths.root()); !synced) return fail(synced.error());
  auto noted = read_stored(client, paths);
  if (!noted) return fail(noted.error());
  auto look = look_at_zookeeper(client, paths, store);
  if (!look) return fail(look.error());
  auto ruling = rule(client, paths, store, candidate, *look);
  if (!ruling) return fail(ruling.error());
  if (auto may = may_lead(candidate); !may) return fail(may.error());
  const store::Office::Marks& marks = look->marks;
  auto uuid = store.settle_uuid(look->uuid.value_or(random_hex(16)));
  if (!uuid) return fail(uuid.error());
  if (look->uuid && *look->uuid != *uuid) {
    return fail(ErrorCode::Conflict, "another cluster began in this database meanwhile");
  }
  auto restored = notice_restore(client, paths, {marks.epoch, marks.watermark},
                                 std::max(*noted, candidate.stored));
  if (!restored) return fail(restored.error());

  Office office;
  office.epoch = Epoch{std::max(look->epoch.epoch.value, marks.epoch.value) + 1};
  office.cluster_uuid = *uuid;
  office.ruling = *ruling;
  const bool is_another = look->belonging != Belonging::Ours && replaces(*ruling);
  office.zookeeper_is_new = is_another || (!look->uuid && marks.epoch.value > 0);
  if (office.zookeeper_is_new) {
    log_error("term", "ZooKeeper does not know this cluster, its data were lost; nobody counts as dead "
              "for one worker session", {{"cluster_uuid", office.cluster_uuid}});
  }
  auto grant = store.settle_grant(candidate.grant);
  if (!grant) return fail(grant.error());
  office.longest_grant = *grant;
  auto written = zk::write_epoch(client, paths, office.epoch, look->epoch);
  if (!written) return fail(written.error());
  // Only by who has won that: another's identity may be settled in the database already.
  auto marked = mark_zookeeper(client, paths, *ruling, *look);
  if (!marked) return fail(marked.error());
  const store::Claim claim{office.epoch, {candidate.id, candidate.address}, *marked};
  const MonoTime claiming = BootClock::now();
  if (auto taken = store.claim(claim); !taken) {
    if (taken.error().retry != Retry::Unknown) return fail(taken.error());
    auto now = store.read_marks();
    if (!now || now->epoch != office.epoch) return fail(taken.error());
  }
  // Whoever changes the elector does so under an epoch of its own: from here on nobody can.
  if (auto may = may_lead(candidate); !may) return fail(may.error());
  const MonoTime loading = BootClock::now();
  auto recovered = recover_alone(store, office.epoch);
  if (!recovered) return fail(recovered.error());
  office.recovered = std::move(*recovered);
  office.took = {floor_ms(claiming - begun), floor_ms(loading - claiming),
                 floor_ms(BootClock::now() - loading)};
  store::leave_out_runs_without_job(office.recovered);
  if (office.recovered.database_went_back && !*restored) {
    log_error("term", "the database lost what unfinished runs were; ticks are held", {});
    if (auto raised = raise_restore_alarm(client, paths, office.epoch); !raised) return fail(raised.error());
  }
  office.recovered.database_went_back |= *restored;
  // Last: a takeover that fails on the way must not hide from the next one that ZooKeeper was new.
  if (!look->uuid) {
    auto made = zk::create_cluster_uuid(client, paths, *uuid);
    if (!made) return fail(made.error());
  }
  tell(*ruling, *look, paths);
  if (replaces(*ruling)) (void)clear_word(client, paths);  // void with this epoch anyway
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
