// What keeps this master from office, and for how long nobody has been known to lead: the words for the
// status call, pages, metrics, the master's node, its log, and the error of a call that needs a leader.
//
// A trouble lasts from its first report until it is cleared, even when its text changes. The part that
// finds a trouble reports it: the takeover, the database watch, the election (see office_watch.h).
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::master {

/// What may keep a master from office, in the order in which it is shown.
enum class Hurdle {
  Session,      ///< no session with ZooKeeper
  Database,     ///< it does not answer, refuses the account, or lacks what this version needs
  Cluster,      ///< ZooKeeper or the database is another cluster's
  Takeover,     ///< elected, but taking office failed, or takes long
  Election,     ///< it cannot be a candidate
  Predecessor,  ///< it stands behind another candidate, which does not lead
};

/// "database", as metrics name it.
std::string_view name_of(Hurdle hurdle);
inline constexpr Hurdle kHurdles[] = {Hurdle::Session,  Hurdle::Database, Hurdle::Cluster,
                                      Hurdle::Takeover, Hurdle::Election, Hurdle::Predecessor};

struct OfficeTrouble {
  std::string what;        ///< what was tried, on what, and what came back
  std::string remedy;      ///< may be empty, or stand in `what` already
  MonoTime since{};
  bool passes = false;     ///< it is over as soon as anybody leads
  bool operator==(const OfficeTrouble&) const = default;
};

enum class Leads { Nobody, Another, This };

struct OfficeView {
  Leads leads = Leads::Nobody;
  MonoTime since{};                            ///< since when
  std::map<Hurdle, OfficeTrouble> troubles;
};

/// Nobody has been known to lead for so long: degraded. A takeover takes much less.
inline constexpr Millis kLongWithoutLeader{10'000};

/// For a call that needs a leader: "no master leads for 12 s: ...", with each trouble and its age; empty
/// while somebody leads. Pure.
std::string why_nobody_leads(const OfficeView& view, MonoTime now);

/// For health: "ok", or the same text once it has lasted for long, with ages in steps ("30 s or more"), so
/// that it does not change with every look. While another master leads it says what would keep this one
/// from taking over. Pure.
std::string office_word(const OfficeView& view, MonoTime now);

/// Owner: Master. Thread: any.
class OfficeState {
 public:
  /// The clock outlives it.
  explicit OfficeState(const Clock& clock);

  void report(Hurdle hurdle, std::string what, std::string remedy = "");
  /// The same for what is over as soon as anybody leads: the servers did not answer, another was faster.
  void report_passing(Hurdle hurdle, std::string what);
  void clear(Hurdle hurdle);
  void see(Leads leads);
  /// Between these two a takeover is under way, which is a trouble when it takes long.
  void begin_takeover();
  void end_takeover();

  OfficeView view() const;
  /// The functions above, for this moment.
  std::string why_nobody_leads() const { return master::why_nobody_leads(view(), clock_.mono()); }
  std::string word() const { return office_word(view(), clock_.mono()); }

 private:
  void put(Hurdle hurdle, OfficeTrouble trouble);

  const Clock& clock_;
  mutable std::mutex mutex_;
  OfficeView view_;
  std::optional<MonoTime> takeover_began_;
};

}  // namespace rota::master
