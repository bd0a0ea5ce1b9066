"""A fault: it begins, lasts, is healed, and proves that it took effect."""
import dataclasses
import typing


@dataclasses.dataclass
class Fault:
    """`heal` returns (whether it took effect, the proof in words)."""
    kind: str
    target: str
    claims: set  # no other fault may touch these meanwhile
    seconds: float
    begin: typing.Callable
    heal: typing.Callable
    more: dict = dataclasses.field(default_factory=dict)  # goes into faults.jsonl
