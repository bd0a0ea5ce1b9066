// What the core asks for. The loop applies the changes first (one fenced transaction for all events
// of a turn), and only then lets sends and replies go (law 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/model/calendar.h"
#include "common/model/child.h"
#include "common/model/quota.h"
#include "common/model/setting.h"
#include "common/model/scaling.h"
#include "common/model/semaphore.h"
#include "common/model/expect.h"
#include "common/model/freeze.h"
#include "common/model/job.h"
#include "common/model/notification.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "common/model/worker_hold.h"
#include "common/model/worker_start.h"
#include "master/core/time/watermark.h"

namespace rota::master::core {

/// One start of a worker, for history.
struct WorkerLife {
  model::WorkerKey key;
  model::Address address;
  std::string pool;
  WallTime joined{};
  std::optional<WallTime> left;
  std::string why_left;
  std::int64_t seen_in = 0;          ///< number of the ZooKeeper in which its node appeared last
  bool forgotten = false;            ///< an operator does not want to see it any more
  std::optional<std::int32_t> slots = {};     ///< unset: not known
  std::optional<model::Amounts> offers = {};  ///< beside them; likewise, or it counts attempts alone
};

/// Settled rows of scaling that were made before are deleted, but for these.
struct ForgetScaling {
  WallTime before{};
  std::vector<std::int64_t> except;
};

struct RunUpdate {
  RunId id;
  model::RunProgress progress;
};

/// Rows to write. Applying the same Changes twice gives the same end state: inserts meet their
/// unique keys, updates set absolute values by primary key.
struct Changes {
  std::vector<model::Job> jobs;                  ///< inserted or replaced
  /// Inserted, or valid_to set. Without a definition: valid_to of the row is set, or a new row takes
  /// the definition of the version before it.
  std::vector<model::JobVersionRow> versions;
  std::vector<model::Run> new_runs;
  std::vector<RunUpdate> updated_runs;           ///< at most one per run, none for a new_runs row
  std::vector<model::AttemptRow> attempts;       ///< inserted or replaced
  std::vector<model::RunNote> notes;             ///< inserted, or what is set replaces what stands
  std::vector<model::Gap> gaps;                  ///< inserted
  std::vector<WorkerLife> lives;                 ///< inserted or replaced
  std::vector<model::WorkerDrain> drains;        ///< inserted or replaced
  std::vector<model::WorkerDeath> deaths;        ///< inserted or replaced
  std::vector<model::CalendarRow> calendars;     ///< inserted; a row that stands is the same
  std::vector<model::SemaphoreRow> semaphores;   ///< inserted; a row that stands is the same
  std::vector<model::QuotaRow> quotas;           ///< inserted; a row that stands is the same
  std::vector<model::SettingRow> settings;       ///< inserted; a row that stands is the same
  std::vector<model::Freeze> freezes;            ///< inserted or replaced
  std::vector<model::WorkerStart> starts;        ///< inserted; a row that stands is the same
  std::vector<model::ChildRow> children;         ///< inserted; a row that stands is the same
  std::vector<model::OwedChildren> children_owed;  ///< inserted; a row that stands is the same
  std::vector<RunId> children_done;              ///< rows of children_owed, by their parents: deleted
  std::vector<model::WorkerHold> holds;          ///< inserted or replaced
  std::vector<model::Notification> notifications;  ///< inserted or replaced
  std::vector<model::ReceiverRow> receivers;     ///< inserted; a row that stands is the same
  /// Settled notifications that were made before it are deleted.
  std::optional<WallTime> forget_notifications;
  std::vector<model::ScaleChange> scaling;       ///< inserted or replaced
  std::optional<ForgetScaling> forget_scaling;
  std::vector<model::LateRow> late;              ///< inserted; a row that stands is the same
  std::vector<model::JobPace> paces;             ///< inserted or replaced; the last one of a job counts
  /// Rows of workers that were told dead before it are deleted.
  std::optional<WallTime> forget_dead;
  std::optional<Watermark> watermark;            ///< replaced

  bool empty() const {
    return jobs.empty() && versions.empty() && new_runs.empty() && updated_runs.empty() &&
           attempts.empty() && notes.empty() && gaps.empty() && lives.empty() && drains.empty() &&
           deaths.empty() && calendars.empty() && semaphores.empty() && freezes.empty() && starts.empty() &&
           children.empty() && children_owed.empty() && children_done.empty() &&
           quotas.empty() && holds.empty() && notifications.empty() && receivers.empty() &&
           settings.empty() && late.empty() && paces.empty() && !forget_dead && !forget_notifications &&
           scaling.empty() && !forget_scaling && !watermark;
  }
};

// --- sends ------------------------------------------------------------------------------------

struct SendHello {
  model::WorkerKey worker;
  model::Address address;
};

struct DispatchItem {
  model::AttemptKey attempt;
  JobId job;
  JobVersion version = 0;
  model::RunKind kind = model::RunKind::Tick;
  std::optional<WallTime> tick;
  WallTime scheduled{};
  Millis timeout{0};                              ///< 0: none
  Millis kill_grace{0};
  Millis disconnect_grace{0};
  model::Demand demand = {};         ///< what it takes of its worker
  std::shared_ptr<const model::Parameters> parameters;
  std::string schedule;                           ///< names of the entries due at the tick
  RunId parent = {};                              ///< of a child's run
  model::RunState parent_ended = {};              ///< how that ended
};

struct SendDispatch {
  model::WorkerKey worker;
  model::Address address;
  std::vector<DispatchItem> items;
};

struct SendCancel {
  model::WorkerKey worker;
  model::Address address;
  std::vector<model::AttemptKey> attempts;
  Millis grace{0};
};

/// Repeated until the worker's node says that the worker has heard it.
struct SendDrain {
  model::WorkerKey worker;
  model::Address address;
  bool draining = true;
  std::int64_t order = 0;                         ///< the same when it is told again
};

using Send = std::variant<SendHello, SendDispatch, SendCancel, SendDrain>;

// --- replies ----------------------------------------------------------------------------------

struct JobApplied {
  JobId job;
  JobVersion version = 0;
  bool changed = true;                            ///< false: the definition was the same already
};
/// Jobs with entries that an edited calendar lets fire no more (time/over_jobs.h).
struct OverJobs {
  struct Job {
    std::string name;
    std::vector<std::size_t> entries;             ///< their places in its schedule, from 0
    bool others_fire = false;                     ///< other entries of it go on
  };
  std::vector<Job> named;                         ///< the first of them
  std::size_t count = 0;                          ///< how many were found
  std::size_t looked_at = 0;                      ///< among so many
  std::size_t users = 0;                          ///< of all jobs that use the calendar
};
struct CalendarApplied {
  std::int32_t version = 0;
  WallTime from{};                                ///< it counts for planned moments from here on
  bool changed = true;                            ///< false: it was the same already
  bool created = false;
  OverJobs over = {};                             ///< nobody is looked at when nothing was edited
};
struct SemaphoreApplied {
  std::int32_t version = 0;
  bool changed = true;                            ///< false: it had this count already
  bool created = false;
};
struct QuotaApplied {
  std::int32_t version = 0;
  bool changed = true;                            ///< false: it was like this already
  model::Quota quota = {};                        ///< as it is now
};
struct SettingApplied {
  std::int32_t version = 0;
  bool changed = true;                            ///< false: it had this value already
};
struct Submitted {
  struct Item {
    RunId run;
    bool repeated = false;                        ///< the key was used before, with the same content
    std::optional<Error> error;
  };
  std::vector<Item> items;
};
struct CancelTaken {
  model::RunState state = model::RunState::Waiting;  ///< after the request
};
struct WorkerForgotten {};
struct DrainTaken {
  bool changed = true;                            ///< false: it was like this already
  std::int32_t running = 0;                       ///< attempts stored for the worker now
};
struct DeathTaken {
  /// What happens to an attempt that is under way on the worker.
  struct Run {
    RunId run;
    std::string job;
    AttemptNo attempt = 0;
    bool asks = false;                            ///< its job waits for this confirmation
    bool begins_again = false;                    ///< false: the run ends
    Millis after{0};                              ///< at least so long from now: its fence
  };
  bool changed = false;                           ///< false: nothing waited for it
  std::vector<Run> runs;
};
struct FreezeTaken {
  model::Freeze freeze;
};
struct ReportsTaken {
  std::vector<model::AttemptKey> taken;           ///< the worker may forget these
};
struct Renewed {};

using ReplyBody = std::variant<JobApplied, CalendarApplied, SemaphoreApplied, Submitted, CancelTaken,
                               QuotaApplied, SettingApplied,
                               DrainTaken, WorkerForgotten, DeathTaken, FreezeTaken, ReportsTaken, Renewed,
                               Error>;

struct Reply {
  Token token;
  ReplyBody body;
};

/// Cluster state told by the core to its shell, beyond rows and messages.
struct TermEnds {
  std::string why;                                ///< e.g. a worker knows a higher epoch
};

/// A line for the leader's log: a fixed sentence, and keys. It is written once its rows are stored. When many
/// have the same sentence, the log writes a few and counts the others.
struct Notice {
  bool is_warning = false;
  std::string_view sentence;
  std::vector<std::pair<std::string_view, std::string>> keys;
};

struct Effects {
  Changes changes;
  std::vector<Send> sends;
  std::vector<Reply> replies;
  std::vector<Notice> notices;
  /// Not 0: list the workers again, and post WorkersListed with this number. The listing must contain all
  /// that ZooKeeper had agreed on when this effect left. So a write comes first: reads alone prove nothing,
  /// because a follower that is cut off still answers them.
  std::int64_t list_workers = 0;
  /// Lives that hold attempts and ask for no voucher. Watch their beats from now on, and post BeatsEnded when
  /// these end. Asked again while the silence lasts; a repeat is harmless.
  std::vector<model::WorkerKey> watch_beats;
  /// To be sent now, each to its receiver; then post NotificationTried, whatever came of it.
  std::vector<model::Notification> notifications;
  /// Hooks to be called now; then post HookCalled, whatever came of it.
  std::vector<model::ScaleChange> hook_calls;
  std::optional<TermEnds> term_ends;
};

}  // namespace rota::master::core
