"""Runs the faults: draws them from the seed, lets some overlap, and records each when it is healed."""
import contextlib
import json
import random
import threading
import time
import traceback

import faults
from processes import now_ms

AT_ONCE = 3
LONGEST_WAIT_S = 25


class FaultLine:
    def __init__(self, cluster, seed, say, only=(), pace=1.0):
        self.cluster, self.say, self.only, self.pace = cluster, say, only, pace
        self.dice = random.Random(seed)
        self.file = open(cluster.evidence / "faults.jsonl", "a", encoding="utf-8")
        self.lock = threading.Lock()
        self.claimed, self.threads = set(), []
        self.count = self.took_effect = 0
        self.broken = []  # errors of the harness itself

    def run(self, until):
        """Faults until that moment (monotonic), then waits until all are healed."""
        while time.monotonic() < until:
            fault = faults.draw(self.cluster, self.dice, self.only)
            pause = self.dice.uniform(0.5, 6) * self.pace
            if self.dice.random() < 0.06:
                pause += 12 * self.pace  # a while without new faults, in which the cluster settles
            if fault and self.claim(fault):
                thread = threading.Thread(target=self.perform, args=(fault, until), daemon=True)
                self.threads.append(thread)
                thread.start()
            time.sleep(max(0.0, min(pause, until - time.monotonic())))
        for thread in self.threads:
            thread.join(180)
            if thread.is_alive():
                self.broken.append("a fault is not healed after 180 s")

    def claim(self, fault):
        """Waits until the targets of the fault are free; gives up after a while."""
        end = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < end:
            with self.lock:
                alive = [thread for thread in self.threads if thread.is_alive()]
                if not self.claimed & fault.claims and len(alive) < AT_ONCE:
                    self.claimed |= fault.claims
                    return True
            time.sleep(0.1)
        return False

    @contextlib.contextmanager
    def holding(self, claims):
        """Waits until no other fault touches these targets, and keeps new faults away from them."""
        while True:
            with self.lock:
                if not self.claimed & claims:
                    self.claimed |= claims
                    break
            time.sleep(0.05)
        try:
            yield
        finally:
            self.give_back(claims)

    def give_back(self, claims):
        with self.lock:
            self.claimed -= claims

    def perform(self, fault, until):
        begun = now_ms()
        try:
            fault.begin()
            time.sleep(min(fault.seconds, max(0.5, until - time.monotonic())))
            took_effect, proof = fault.heal()
        except Exception as error:  # reported, because the run proves less without it
            took_effect, proof = None, f"the harness failed: {type(error).__name__}: {error}"
            self.broken.append(f"{fault.kind} {fault.target}: {traceback.format_exc()}")
            self.heal_after_error(fault)
        self.write(fault.kind, fault.target, begun, took_effect, proof, fault.more)
        self.give_back(fault.claims)

    @staticmethod
    def heal_after_error(fault):
        try:
            fault.heal()
        except Exception:  # the first error is already reported
            pass

    def write(self, kind, target, begun, took_effect, proof, more=None):
        ended = now_ms()
        with self.lock:
            self.count += 1
            self.took_effect += took_effect is True
            self.file.write(json.dumps({"kind": kind, "target": target, "from_ms": begun, "to_ms": ended,
                                        "took_effect": took_effect, "proof": proof, **(more or {})}) + "\n")
            self.file.flush()
        word = {True: "took effect", False: "NO EFFECT", None: "not proven"}[took_effect]
        self.say(f"fault {self.count} {kind} {target} {ended - begun} ms: {word}; {proof}")
