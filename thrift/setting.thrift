/**
 * Settings that operators change while the cluster runs. The methods stand in JobService (job.thrift).
 */
namespace cpp rota.thrift
namespace py rota.setting

struct SettingInfo {
  1: string name,
  /** In the setting's unit. */
  2: i64 value,
  /** "ms", "bytes", "percent", or empty. */
  3: string unit,
  /** The value for people: "10m", "100GiB", "90 %". */
  4: string text,
  /** "default", "file" (master.yaml or the environment of the master that answers), or "setting". */
  5: string source,
  /** 0: it was never set. */
  6: i32 version,
  /** Of that version. */
  7: i64 changed_ms,
  8: string changed_by,
  9: string why,
  10: i64 epoch,
  11: i64 default_value,
  /** What the file says, where it says anything. */
  12: optional i64 file_value,
  13: i64 least,
  14: i64 most,
  /** "1s to 30d". */
  15: string allowed,
  /** "leader" or "every master". */
  16: string acts,
  17: string meaning
}

struct SettingEdit {
  1: string name,
  /** As people write it: "10m", "600000", "100GiB"; "default": what master.yaml says counts again. */
  2: string value,
  /** Instead of a value: what that version said; 0: what master.yaml says; -1: what the version before said. */
  3: optional i32 to_version,
  4: string why,
  /** The version from which this change was made; 0: it was never set; absent: any version. */
  5: optional i32 expected_version
}

struct SettingEdited {
  1: i32 version,
  /** "changed" or "unchanged". */
  2: string what,
  /** What it is now, for people. */
  3: string text
}

struct SettingVersion {
  1: string name,
  2: i32 version,
  /** Absent: what master.yaml says. */
  3: optional i64 value,
  4: string text,
  5: i64 changed_ms,
  6: string changed_by,
  7: string why,
  8: i64 epoch
}
