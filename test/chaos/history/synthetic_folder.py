"""Writes a synthetic story as the files of an evidence folder, binlog text included."""
import base64
import json
from datetime import datetime
from pathlib import Path


def columns(key, names):
    return {"key": key.split(), "all": names.split()}


COLUMNS = {
    "job": columns("job_id", "job_id namespace name saved_name version state one_off state_by state_why "
                   "created_ms changed_ms ticks_through_ms"),
    "job_version": columns("job_id version", "job_id version valid_from_ms valid_to_ms anchor_ms enabled "
                           "principal definition_hash rules definition"),
    "run": columns("run_id", "run_id namespace principal job_id job_version kind tick_ms scheduled_ms "
                   "recorded_ms request_key request_hash parameters state reason detail attempt worker_id "
                   "worker_incarnation epoch dispatched_ms started_ms ended_ms not_before_ms cancel_asked "
                   "outcome_state outcome_reason exit_status signal_number message result "
                   "outcome_started_ms outcome_ended_ms stdout_bytes stderr_bytes"),
    "attempt": columns("run_id attempt", "run_id attempt worker_id worker_incarnation epoch dispatched_ms "
                       "late outcome_state outcome_reason exit_status outcome_ended_ms stdout_bytes"),
    "gap": columns("job_id job_version from_ms", "job_id job_version from_ms to_ms tick_count reason "
                   "reference epoch"),
    "epoch": columns("partition_no", "partition_no value holder taken_ms"),
    "watermark": columns("partition_no", "partition_no value_ms reaching_ms job_id"),
    "worker_life": columns("worker_id incarnation", "worker_id incarnation host port pool joined_ms left_ms "
                           "why_left"),
    "log_chunk": columns("run_id attempt stream offset_bytes", "run_id attempt stream offset_bytes "
                         "length_bytes dropped_bytes crc32 received_ms content codec"),
}


def write_folder(folder, story, world):
    folder = Path(folder)
    for name in ("store", "ledger", "logs", "printed"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "world.json").write_text(json.dumps(world, indent=1))
    (folder / "residue.json").write_text(json.dumps({"processes": [], "files": []}))
    write_lines(folder / "clients.jsonl", sorted(story.clients, key=lambda op: op["asked_ms"]))
    write_lines(folder / "faults.jsonl", story.faults)
    write_lines(folder / "processes.jsonl", [{"host": "master-1", "role": "master", "pid": 77,
                                              "started_ms": world["started_ms"],
                                              "ended_ms": world["ended_ms"], "how": "signal 9"}])
    for table, rows in story.tables.items():
        write_lines(folder / "store" / f"{table}.jsonl", [plain(row) for row in rows.values()])
    lines = [line for _, line in sorted(story.ledger, key=lambda one: one[0])]
    (folder / "ledger" / "all.log").write_text("\n".join(lines) + "\n")
    (folder / "logs" / "master-1.log").write_text(
        "2026-11-21T04:46:31.283Z INFO  rota term: ended epoch=1 why=fenced found_epoch=2 stale_refused=1\n")
    (folder / "logs" / "worker-1.log").write_text(
        "2026-11-21T04:46:32.283Z WARN  rota run: refused a dispatch of a deposed leader run=1 epoch=1\n")
    for (run, attempt), data in story.printed.items():
        (folder / "printed" / f"{run}-{attempt}.log").write_bytes(data)
    transactions = sorted(story.transactions, key=lambda one: one[0])
    (folder / "binlog.txt").write_text(binlog_text(transactions), encoding="utf-8")


def plain(row):
    return {name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
            for name, value in row.items()}


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def binlog_text(transactions):
    out = []
    for table, rule in COLUMNS.items():
        names = ",\n".join(f"  {name} BIGINT NULL" for name in rule["all"])
        out.append(f"CREATE TABLE IF NOT EXISTS {table} (\n{names},\n  PRIMARY KEY "
                   f"({', '.join(rule['key'])})\n) ENGINE=InnoDB\n/*!*/;")
    for number, (at, changes) in enumerate(transactions, 1):
        stamp = datetime.fromtimestamp(at / 1000).strftime("%y%m%d %k:%M:%S")
        out.append(f"# at {number}\n#{stamp} server id 1  end_log_pos {number} CRC32 0x0 \tGTID 0-1-{number} "
                   "trans\nSTART TRANSACTION\n/*!*/;")
        for table, before, after in changes:
            out.append(change_text(table, before, after))
        out.append(f"#{stamp} server id 1  end_log_pos {number} CRC32 0x0 \tXid = {number}\nCOMMIT/*!*/;")
    return "\n".join(out) + "\n"


def change_text(table, before, after):
    lines = [f"### INSERT INTO `rota`.`{table}`" if before is None else f"### UPDATE `rota`.`{table}`"]
    if before is not None:
        lines += ["### WHERE"] + row_text(table, before)
    return "\n".join(lines + ["### SET"] + row_text(table, after))


def row_text(table, row):
    return [f"###   @{number}={value_text(row[name])}"
            for number, name in enumerate(COLUMNS[table]["all"], 1)]


def value_text(value):
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    text = value.hex() if isinstance(value, bytes) else value
    return "'" + text.replace("\n", "\\x0a") + "'"
