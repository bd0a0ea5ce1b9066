"""Every tolerance of the judge, each with its reason. What is not named here is not forgiven.

Durations are milliseconds. A bound that hangs on the cluster's settings is computed by `Bounds`.
"""

# Two clocks of one cluster may differ by so much; beyond it the leader holds its ticks (P21).
CLOCK_SKEW_MS = 2000
# Without a fault nearby a tick is recorded at most 1 s late, as the 99th percentile (P2).
LATE_P99_MS = 1000
# Chunks may still be in the spool of a worker so long after the attempt's end.
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
# The machine stood still for so long: less is told apart from nothing. What is late is the machine's when
# stalls fill this share of the time; the rest of it is the batch that waited, and was done then.
LEAST_STALL_MS = 200
STALL_SHARE = 0.5
# Between the row "dispatched" and the first line of the process: network, warden, exec, fsync.
START_MS = 3000
# A process stopped by a signal may write on for so long when it continues, until the kill reaches it.
RESUME_MS = 1000
# Two fsyncs of one process: it may have written its end and be killed before it exited.
END_RACE_MS = 250
# P18: a stopping worker may get a new attempt until so long after SIGTERM.
DRAIN_MS = 100
# A dispatch that was on its way when a cancel was taken may still start its process, to be killed then.
CANCEL_IN_FLIGHT_MS = 3000
# A request whose answer never came may still lie in a queue of a master for its deadline, and be done then.
LATE_EFFECT_MS = 15_000
# Ticks of a database that went back are acknowledged no more than so long before the loss is noticed.
RESTORE_LOSS_MS = 10_000
# Where nothing else is written, the watermark is written so often.
WATERMARK_PAUSE_MS = 10_000
# Lives, beats and clients' clocks are compared through one offset between the boot clock and the wall.
BOOT_CLOCK_MS = 50

# Differences of wall clocks in floating milliseconds are no finer than this.
CLOCK_GRAIN_MS = 0.01

# What a history must hold before "ok" means anything.
LEAST_TICKS = 50
LEAST_SUBMITS = 10
LEAST_FAULTS = 3
LEAST_KILLS = 1
LEAST_EPOCHS = 2
LEAST_LIVES = 20
# A fault whose effect nothing shows (a link over which nobody spoke while it was cut; a process that was gone
# before it was continued) proves nothing. So many faults of a run must be proven, and one of each kind.
EFFECTIVE_SHARE = 0.9

DEFAULT_SETTINGS = {
    "master_session_ms": 4000, "worker_session_ms": 6000, "grant_ms": 5000, "beat_ms": 1000,
    "tick_grace_ms": 60_000, "kill_grace_ms": 10_000, "store_give_up_ms": STORE_GIVE_UP_MS,
}


class Bounds:
    """What the cluster's settings make of the promises."""

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
        """So long after the end of a fault of that kind a tick may still be late because of it."""
        if kind == "store":
            return self.store_return()
        if kind == "process":
            return self.failover_process()
        return self.failover_host() + self.of("store_give_up_ms")
