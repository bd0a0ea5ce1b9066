#include "master/store/mysql/job_loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "common/base/log.h"
#include "master/store/mysql/contents.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/mysql/literals.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

/// Jobs that share their rules share one object: most of a million jobs have few distinct ones.
class RulesCache {
 public:
  explicit RulesCache(const ZoneSource& zones) : zones_(zones) {}

  struct Entry {
    core::RulesPtr rules;
    model::Zones zone;
  };

  Result<Entry> get(const std::string& json) {
    const auto found = known_.find(json);
    if (found != known_.end()) return found->second;
    auto rules = reader_.read(json);
    if (!rules) return fail(rules.error());
    auto made = with_zone(std::make_shared<const core::KeptRules>(std::move(*rules)));
    if (made) known_.emplace(json, *made);
    return made;
  }

  Result<Entry> with_zone(core::RulesPtr rules) const {
    auto zones = zones_of(rules->schedule, zones_);
    if (!zones) return fail(ErrorCode::Unsupported, zones.error().message);
    return Entry{std::move(rules), std::move(*zones)};
  }

 private:
  const ZoneSource& zones_;
  std::unordered_map<std::string, Entry> known_;
  RulesReader reader_;
};

/// What a version says, as a number. Texts are read only when a job needs them: an old version may say what
/// this program does not understand.
class Sayings {
 public:
  using Number = std::uint32_t;
  Sayings(const ZoneSource& zones, const ContentCache& ahead) : rules_(zones), ahead_(ahead) {}

  Number of_content(const std::string& hash) {
    const auto [found, is_new] = numbers_.try_emplace(hash, static_cast<Number>(said_.size()));
    if (!is_new) return found->second;
    if (auto known = ahead_.find(hash)) {
      said_.emplace_back(rules_.with_zone(std::move(known)));
    } else {
      said_.emplace_back();
      asked_.push_back(&found->first);
    }
    return found->second;
  }

  Number of_text(std::string rules) {
    const auto [found, is_new] = texts_.try_emplace(std::move(rules), static_cast<Number>(said_.size()));
    if (is_new) said_.push_back(rules_.get(found->first));
    return found->second;
  }

  /// Each of the contents that were asked for since the last call, in the order in which they are stored.
  Result<void> read_contents(Connection& connection) {
    std::sort(asked_.begin(), asked_.end(), [](const auto* a, const auto* b) { return *a < *b; });
    std::string some;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (!some.empty()) some += ',';
      LiteralBinder(some).text(*asked_[i]);
      if (some.size() < kMostTextBytes && i + 1 < asked_.size()) continue;
      if (auto read = read_some(connection, some); !read) return read;
      some.clear();
    }
    asked_.clear();
    return {};
  }

  Result<RulesCache::Entry> get(Number number) const {
    const auto& said = said_[number];
    return said ? *said : fail(ErrorCode::Corrupt, std::string(kMissingContent));
  }

 private:
  static constexpr std::size_t kMostTextBytes = 40'000;

  Result<void> read_some(Connection& connection, const std::string& hashes) {
    return connection.stream("SELECT hash, " + kept_rules("rules", "body") +
                                 " FROM definition WHERE hash IN (" + hashes + ")",
                             [this](Row& row) -> Result<void> {
                               const Number number = numbers_.at(row.text());
                               said_[number] = rules_.get(row.text());
                               return {};
                             });
  }

  RulesCache rules_;
  const ContentCache& ahead_;
  std::unordered_map<std::string, Number> numbers_;             ///< of contents, by their hash
  std::vector<const std::string*> asked_;                       ///< hashes whose contents were not read yet
  std::unordered_map<std::string, Number> texts_;               ///< of rules that stand in their version
  std::vector<std::optional<Result<RulesCache::Entry>>> said_;  ///< empty: a content that was not found
};

/// The part of a version that its job needs.
struct SmallVersion {
  JobId job;
  JobVersion version = 0;
  Sayings::Number says = 0;
  WallTime valid_from{};
  WallTime anchor{};
  std::uint64_t definition_hash = 0;
};

std::string version_part() {
  return "v.valid_from_ms, v.anchor_ms, v.definition_hash, v.content_hash, " +
         kept_rules("v.rules", "v.definition");
}

/// Versions in the order of their jobs and numbers: of each job the newest is kept.
class NewestVersions {
 public:
  explicit NewestVersions(Sayings& sayings) : sayings_(sayings) {}

  /// Those of saved jobs, with what they say.
  Result<void> load(Connection& connection) {
    auto read = connection.stream(
        fmt::format("SELECT v.job_id, v.version, {} FROM job_version v WHERE v.job_id < {} "
                    "ORDER BY v.job_id, v.version", version_part(), kOneOffBit),
        [this](Row& row) -> Result<void> {
          const JobId job{row.integer()};
          if (last_.job != job) keep_last();
          last_.job = job;
          last_.version = static_cast<JobVersion>(row.integer());
          read_part(row);
          return {};
        });
    if (!read) return read;
    keep_last();
    return sayings_.read_contents(connection);
  }

  /// Of a row with version_part() next.
  SmallVersion read(Row& row) {
    read_part(row);
    settle_last();
    return last_;
  }

  const std::vector<SmallVersion>& all() const { return all_; }

 private:
  void read_part(Row& row) {
    last_.valid_from = row.time();
    last_.anchor = row.time();
    last_.definition_hash = static_cast<std::uint64_t>(row.integer());
    const auto hash = row.maybe_text();
    is_content_ = hash.has_value();
    text_ = is_content_ ? *hash : row.text();
  }
  void settle_last() {
    last_.says = is_content_ ? sayings_.of_content(text_) : sayings_.of_text(std::move(text_));
  }
  void keep_last() {
    if (last_.job == JobId{}) return;
    settle_last();
    all_.push_back(last_);
  }

  Sayings& sayings_;
  std::vector<SmallVersion> all_;
  SmallVersion last_;
  bool is_content_ = false;
  std::string text_;  ///< the hash of its content, or its rules
};

constexpr std::int64_t kWorthReserving = 10'000, kMostReserved = 2'000'000;

/// Jobs before they have what their versions say.
class LoadedJobs {
 public:
  LoadedJobs(const ZoneSource& zones, const ContentCache& ahead)
      : sayings_(zones, ahead), versions_(sayings_) {}

  /// Once both sides have been read: jobs and versions meet.
  Result<void> load_saved(Connection& connection, Connection* second) {
    Result<void> versions;
    Result<void> jobs;
    {
      std::jthread beside;
      if (second != nullptr) beside = std::jthread([&] { versions = versions_.load(*second); });
      jobs = read_saved(connection);
    }
    if (!jobs) return jobs;
    if (second == nullptr) versions = versions_.load(connection);
    if (!versions) return versions;
    return join(connection);
  }

  /// Jobs together with their newest versions.
  Result<void> load_whole(Connection& connection, const std::string& from, const std::string& where) {
    const std::size_t first = jobs_.size();
    std::vector<Sayings::Number> says;
    auto read = connection.stream(
        fmt::format("SELECT {}, {} FROM {} JOIN job_version v ON v.job_id = j.job_id "
                    "AND v.version = j.version WHERE {}", kJobColumns, version_part(), from, where),
        [&](Row& row) -> Result<void> {
          auto job = read_job(row);
          if (!job) return fail(job.error());
          jobs_.emplace_back().job = std::move(*job);
          const SmallVersion version = versions_.read(row);
          put(version, jobs_.back());
          says.push_back(version.says);
          return {};
        });
    if (!read) return read;
    if (auto contents = sayings_.read_contents(connection); !contents) return contents;
    for (std::size_t i = 0; i < says.size(); ++i) {
      if (auto told = tell(says[i], jobs_[first + i]); !told) return told;
    }
    return {};
  }

  std::vector<core::RecoveredJob> in_order() {
    const auto by_id = [](const auto& a, const auto& b) { return a.job.id < b.job.id; };
    if (!std::is_sorted(jobs_.begin(), jobs_.end(), by_id)) std::sort(jobs_.begin(), jobs_.end(), by_id);
    return std::move(jobs_);
  }

 private:
  /// As many as the server believes to have, and a tenth: memory that is not used costs nothing.
  Result<void> reserve(Connection& connection) {
    return connection.stream(
        "SELECT COALESCE(MAX(table_rows), 0) FROM information_schema.tables "
        "WHERE table_schema = DATABASE() AND table_name = 'job'",
        [this](Row& row) -> Result<void> {
          const std::int64_t rows = std::min(row.integer(), kMostReserved);
          if (rows > kWorthReserving) jobs_.reserve(static_cast<std::size_t>(rows + rows / 10));
          return {};
        });
  }

  Result<void> read_saved(Connection& connection) {
    if (auto reserved = reserve(connection); !reserved) return reserved;
    return connection.stream(
        fmt::format("SELECT {} FROM job j WHERE j.job_id < {} AND j.saved_name IS NOT NULL ORDER BY j.job_id",
                    kJobColumns, kOneOffBit),
        [this](Row& row) -> Result<void> {
          auto job = read_job(row);
          if (!job) return fail(job.error());
          jobs_.emplace_back().job = std::move(*job);
          return {};
        });
  }

  static void put(const SmallVersion& version, core::RecoveredJob& job) {
    job.valid_from = version.valid_from;
    job.anchor = version.anchor;
    job.definition_hash = version.definition_hash;
  }

  Result<void> tell(Sayings::Number says, core::RecoveredJob& job) const {
    const auto entry = sayings_.get(says);
    if (!entry) {
      return fail(entry.error().code, fmt::format("job {} ('{}'): {}", job.job.id.value, job.job.name,
                                                  entry.error().message));
    }
    job.rules = entry->rules;
    job.zone = entry->zone;
    return {};
  }

  /// A job whose newest version is not the one that it names is asked for with the server's own join.
  Result<void> join(Connection& connection) {
    std::vector<std::int64_t> others;
    auto version = versions_.all().begin();
    const auto end = versions_.all().end();
    for (core::RecoveredJob& job : jobs_) {
      while (version != end && version->job < job.job.id) ++version;
      if (version == end || version->job != job.job.id || version->version != job.job.version) {
        others.push_back(job.job.id.value);
        continue;
      }
      put(*version, job);
      if (auto told = tell(version->says, job); !told) return told;
    }
    if (others.empty()) return {};
    std::erase_if(jobs_, [](const core::RecoveredJob& job) { return job.rules == nullptr; });
    return load_whole(connection, "job j", fmt::format("j.job_id IN ({})", fmt::join(others, ",")));
  }

  Sayings sayings_;
  NewestVersions versions_;
  std::vector<core::RecoveredJob> jobs_;
};

/// Nothing when it cannot be had, or leads to a server that does not know of this takeover.
std::unique_ptr<Connection> open_second(const SecondConnection& second) {
  auto opened = second.open();
  if (!opened) {
    log_warn("store", "jobs are loaded on one connection", {{"why", opened.error().message}});
    return nullptr;
  }
  Epoch found;
  auto asked = (*opened)->stream("SELECT value FROM epoch WHERE partition_no = 1",
                                 [&](Row& row) -> Result<void> {
                                   found = Epoch{row.integer()};
                                   return {};
                                 });
  if (asked && found >= second.epoch) return std::move(*opened);
  log_warn("store", "jobs are loaded on one connection", {{"why", "another one's server lags"}});
  return nullptr;
}

}  // namespace

Result<std::vector<core::RecoveredJob>> load_jobs(Connection& connection, const JobSources& sources,
                                                  const std::string& open_runs) {
  const auto beside = open_second(sources.second);
  LoadedJobs jobs(sources.zones, sources.ahead);
  if (auto saved = jobs.load_saved(connection, beside.get()); !saved) return fail(saved.error());
  auto others = jobs.load_whole(
      connection,
      fmt::format("(SELECT DISTINCT r.job_id FROM {} WHERE r.state IN ({})) u "
                  "JOIN job j ON j.job_id = u.job_id", open_runs, kUnfinishedStates),
      "j.saved_name IS NULL");
  if (!others) return fail(others.error());
  return jobs.in_order();
}

}  // namespace rota::master::store
