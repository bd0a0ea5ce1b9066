"""Every tolerance of the judge, each with its reason. Nothing else is tolerated.

Durations are milliseconds. `Bounds` computes the bounds that depend on the cluster's settings.
"""

# Two clocks of one cluster may differ by this much; beyond it the leader holds ticks (P21).
CLOCK_SKEW_MS = 2000
# Without a fault nearby a tick is recorded at most 1 s late, as the 99th percentile (P2).
LATE_P99_MS = 1000
# Chunks may still be in a worker's spool this long after the attempt's end.
LOG_SETTLE_MS = 15_000
# P17, as the largest lateness of a tick: a process that dies under a living parent or watchdog ...
FAILOVER_PROCESS_MS = 500
# ... and a whole host: its session, and this much more.
FAILOVER_HOST_EXTRA_MS = 1500
# P20: ticks are made up for within 10 s of the database's return. A candidate needs 3 s of good answers.
STORE_RETURN_MS = 10_000
STORE_GIVE_UP_MS = 6000
# A machine that runs a whole cluster, its servers and the faults on two cores is slower than hosts of
# their own: added to each bound of P17 to P20, and printed with them.
NOISE_MS = 1500
# The shortest stall of the machine that counts. Lateness counts as the machine's when stalls fill this share
# of the time; in the rest, the waiting batch was processed.
LEAST_STALL_MS = 200
STALL_SHARE = 0.5
# The time between the row "dispatched" and the first line of the process: network, warden, exec, fsync.
START_MS = 3000
# A process stopped by a signal may still write for this long after it continues, until the kill reaches it.
RESUME_MS = 1000
# Two fsyncs of one process: it may have written its end and be killed before it exited.
END_RACE_MS = 250
# P18: a stopping worker may get a new attempt until this long after SIGTERM.
DRAIN_MS = 100
# A dispatch that was on its way when a cancel was accepted may still start its process, which is then killed.
CANCEL_IN_FLIGHT_MS = 3000
# A request without an answer may still be in a master's queue until its deadline, and be done then.
LATE_EFFECT_MS = 15_000
# Ticks of a database that went back are acknowledged at most this long before the loss is noticed.
RESTORE_LOSS_MS = 10_000
# How often the watermark is written when nothing else is.
WATERMARK_PAUSE_MS = 10_000
# Lives, beats and clients' clocks are compared through one offset between the boot clock and the wall.
BOOT_CLOCK_MS = 50

# The resolution of differences between wall clocks in floating milliseconds.
CLOCK_GRAIN_MS = 0.01

# What a history must contain before "ok" means anything.
LEAST_TICKS = 50
LEAST_SUBMITS = 10
LEAST_FAULTS = 3
LEAST_KILLS = 1
LEAST_EPOCHS = 2
LEAST_LIVES = 20
# A fault without a visible effect (a link that nobody used while it was cut; a process that was gone before it
# was continued) proves nothing. This share of a run's faults must be proven, and one of each kind.
EFFECTIVE_SHARE = 0.9

DEFAULT_SETTINGS = {
    "master_session_ms": 4000, "worker_session_ms": 6000, "grant_ms": 5000, "beat_ms": 1000,
    "tick_grace_ms": 60_000, "kill_grace_ms": 10_000, "store_give_up_ms": STORE_GIVE_UP_MS,
}


class Bounds:
    """The bounds of the promises under the cluster's settings."""

    def __init__(self, settings):
        self.settings = dict(DEFAULT_SETTINGS)
        for name, value in (settings or {}).items():
            if isinstance(value, (int, float)):
                self.settings[name] = value

    def of(self, name):
        return self.settings[name]

    def fence(self):
        """How long after a loss another attempt may have to wait: absent, grant, a new leader's wait."""
        return self.of("worker_session_ms") + 2 * self.of("grant_ms") + self.failover_host()

    def failover_process(self):
        return FAILOVER_PROCESS_MS + NOISE_MS

    def failover_host(self):
        return self.of("master_session_ms") + FAILOVER_HOST_EXTRA_MS + NOISE_MS

    def store_return(self):
        return STORE_RETURN_MS + NOISE_MS

    def tail(self, kind):
        """How long after the end of a fault of that kind a tick may still be late because of it."""
        if kind == "store":
            return self.store_return()
        if kind == "process":
            return self.failover_process()
        return self.failover_host() + self.of("store_give_up_ms")
