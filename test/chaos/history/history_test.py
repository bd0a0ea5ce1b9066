#!/usr/bin/python3
"""Tests of the judge alone: its reading, its ticks, a correct history, and every mutant of it.

    history_test.py [unittest options]      last lines: the mutants caught, and "N passed, M failed"
"""
import datetime
import sys
import tempfile
import unittest
from pathlib import Path

import binlog
import judge
import mutants
import synthetic
import ticks
from evidence import Unreadable, load

BINLOG = """\
CREATE TABLE IF NOT EXISTS epoch (
  partition_no INT NOT NULL,
  value BIGINT NOT NULL,
  holder VARCHAR(255) NOT NULL DEFAULT '',
  PRIMARY KEY (partition_no)
) ENGINE=InnoDB
/*!*/;
ALTER TABLE epoch ADD COLUMN note VARCHAR(9) NULL AFTER partition_no
/*!*/;
#261121  4:45:39 server id 1  end_log_pos 8473 CRC32 0xd9d37b16 \tGTID 0-1-17 trans
START TRANSACTION
/*!*/;
### UPDATE `rota`.`epoch`
### WHERE
###   @1=1
###   @2=NULL
###   @3=0
###   @4='COMMIT'
### SET
###   @1=1
###   @2='it's'
###   @3=-5 (18446744073709551611)
###   @4='m\\x0a1'
#261121  4:45:39 server id 1  end_log_pos 8623 CRC32 0xea85fd6c \tXid = 22
COMMIT/*!*/;
START TRANSACTION
### INSERT INTO `rota`.`epoch`
### SET
###   @1=2
ROLLBACK
"""


def at(*moment):
    return int(datetime.datetime(*moment, tzinfo=datetime.timezone.utc).timestamp() * 1000)


def fires(cron, zone, after, through, **more):
    """The ticks as "dd hh:mm:ss" in UTC."""
    found = ticks.Cron({"cron": cron, "time_zone": zone, **more}).between(after, through)
    return [datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).strftime("%d %H:%M:%S")
            for ms in found]


class Ticks(unittest.TestCase):
    spring = (at(2026, 3, 28, 20), at(2026, 3, 29, 12))
    autumn = (at(2026, 10, 24, 20), at(2026, 10, 25, 12))

    def test_a_missing_local_time_fires_at_the_gaps_end_or_not(self):
        self.assertEqual(fires("30 2 * * *", "Europe/Berlin", *self.spring), ["29 01:00:00"])
        self.assertEqual(fires("30 2 * * *", "Europe/Berlin", *self.spring, gap="skip"), [])
        self.assertEqual(fires("0,30 2,3 * * *", "Europe/Berlin", *self.spring),
                         ["29 01:00:00", "29 01:30:00"])

    def test_a_wildcard_follows_elapsed_time(self):
        self.assertEqual(fires("*/30 2 * * *", "Europe/Berlin", *self.spring), [])
        self.assertEqual(len(fires("*/30 * * * *", "Europe/Berlin", at(2026, 10, 24, 23, 59),
                                   at(2026, 10, 25, 2))), 5)

    def test_a_repeated_local_time_fires_as_its_fold_says(self):
        for fold, wanted in (("first", ["25 00:30:00"]), ("second", ["25 01:30:00"]),
                             ("both", ["25 00:30:00", "25 01:30:00"])):
            self.assertEqual(fires("30 2 * * *", "Europe/Berlin", *self.autumn, fold=fold), wanted)

    def test_fields_that_croniter_reads_otherwise(self):
        week = (at(2026, 1, 1), at(2026, 1, 8))
        self.assertEqual(fires("0 0 * * 5-7", "UTC", *week), ["02 00:00:00", "03 00:00:00", "04 00:00:00"])
        self.assertEqual(len(fires("0 0 * * fri-mon", "UTC", *week)), 4)
        self.assertEqual(len(fires("0 0 12 ? * 2-6", "UTC", *week)), 5)
        self.assertEqual(fires("0 22-0 * * *", "UTC", at(2026, 1, 1, 12), at(2026, 1, 2, 12)),
                         ["01 22:00:00", "01 23:00:00", "02 00:00:00"])
        # A day field that is written with a star joins the other; without one either is enough.
        self.assertEqual(fires("0 0 */2 * 1", "UTC", at(2026, 1, 1), at(2026, 2, 1)),
                         ["05 00:00:00", "19 00:00:00"])
        self.assertEqual(len(fires("0 0 13 * 5", "UTC", at(2026, 1, 1), at(2026, 1, 31))), 6)

    def test_a_half_hour_zone_with_seconds(self):
        self.assertEqual(fires("3/20 15 5 * * *", "Asia/Kathmandu", at(2026, 1, 1), at(2026, 1, 2)),
                         ["01 23:30:03", "01 23:30:23", "01 23:30:43"])

    def test_what_croniter_can_not_say_is_not_judged(self):
        for cron in ("0 0 LW * *", "0 0 0 ? * 6#3", "0 0 0 1 1 ? 2030"):
            with self.assertRaises(ticks.NotJudged):
                fires(cron, "UTC", at(2026, 1, 1), at(2026, 1, 2))

    def test_a_fixed_rate_counts_from_its_anchor(self):
        self.assertEqual(ticks.fixed_rate(100, 1000, None, 0, 1300), [1100, 1200, 1300])
        self.assertEqual(ticks.fixed_rate(100, 1000, 1000, 0, 1200), [1000, 1100, 1200])
        self.assertEqual(ticks.fixed_rate(100, 1000, None, 1200, 1400), [1300, 1400])


class Reading(unittest.TestCase):
    def test_a_binlog_gives_rows_by_the_names_of_their_columns(self):
        reader = binlog.Reader().read(BINLOG.splitlines(keepends=True))
        self.assertEqual(len(reader.transactions), 1)
        change, = reader.transactions[0].changes
        self.assertEqual(change.before, {"partition_no": 1, "value": 0, "holder": "COMMIT"})
        self.assertEqual(change.after, {"partition_no": 1, "value": -5, "holder": "m\\x0a1"})

    def test_what_is_no_evidence_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(Unreadable, "world.json"):
                load(folder)
            self.assertEqual(judge.main([folder]), 2)

    def test_a_torn_ledger_line_is_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            synthetic.write(folder)
            with open(Path(folder, "ledger", "all.log"), "ab") as file:
                file.write(b"beat 12 1 1 in")
            self.assertEqual(load(folder).torn_lines, 1)


class Verdicts(unittest.TestCase):
    def test_a_history_that_kept_every_promise_is_ok(self):
        for seed in (1, 2, 3):
            with tempfile.TemporaryDirectory() as folder:
                synthetic.write(folder, seed)
                findings = judge.judge(load(folder))
                self.assertEqual((findings.verdict(), findings.violations, findings.doubts), ("ok", [], []))

    def test_every_mutant_is_caught(self):
        with tempfile.TemporaryDirectory() as folder:
            synthetic.write(folder)
            caught, applied, survivors, idle, verdict = mutants.run(load(folder), 7)
        print(f"history mutants caught={caught} of {applied}", flush=True)
        self.assertEqual((survivors, idle, verdict), ([], [], "ok"))
        self.assertGreaterEqual(applied, 60)

    def test_late_ticks_are_excused_by_stalls_of_the_machine_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            synthetic.write(folder)
            evidence = load(folder)
        late, = [one for one in mutants.MUTANTS if one.name == "ticks_late_without_a_fault"]
        late.apply(evidence, mutants.random.Random(1))
        spans = [(run["tick_ms"], run["recorded_ms"]) for run in evidence.store["run"] if run["tick_ms"] and
                 run["recorded_ms"] - run["tick_ms"] > 2000]
        for share, wanted in ((0.4, True), (0.6, False)):
            evidence.stalls = [{"from_ms": begin, "to_ms": begin + share * (end - begin)}
                               for begin, end in spans]
            told = [one for one in judge.judge(evidence).violations if "outside fault windows" in one.what]
            self.assertEqual(bool(told), wanted)

    def test_a_gap_in_a_ledger_is_a_stall_unless_a_signal_stopped_the_job(self):
        with tempfile.TemporaryDirectory() as folder:
            synthetic.write(folder)
            evidence = load(folder)
        calm = judge.judge(evidence).figures["stalls_ms"]
        life = max(evidence.lives, key=lambda one: one.last - one.first)
        life.beats = [life.first, life.first + 900]
        self.assertEqual(judge.judge(evidence).figures["stalls_ms"], calm + 880)
        evidence.faults.append({"kind": "stop_worker_host", "target": "worker-1", "took_effect": True,
                                "from_ms": evidence.wall(life.first), "to_ms": evidence.wall(life.first) + 900})
        self.assertEqual(judge.judge(evidence).figures["stalls_ms"], calm)

    def test_each_violation_has_a_short_timeline(self):
        with tempfile.TemporaryDirectory() as folder:
            synthetic.write(folder)
            evidence = load(folder)
        for mutant in mutants.MUTANTS[::7]:
            spoiled = mutants.pickle.loads(mutants.pickle.dumps(evidence))
            mutant.apply(spoiled, mutants.random.Random(1))
            for violation in judge.judge(spoiled.index()).violations:
                lines = judge.witness.timeline(spoiled, violation)
                self.assertLessEqual(len(lines), judge.witness.MOST_LINES)


def main():
    outcome = unittest.main(exit=False, verbosity=1).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
