"""Which ticks a job version plans: enumerated by croniter and zoneinfo, without any code of Rota.

croniter knows dates and times of day; Rota's documented rules for summer time are applied here. When minute or
hour is a wildcard, elapsed time counts (nothing for times that do not exist, both passages of times that exist
twice). Otherwise a missing time fires once at the gap's end (`run_at_end`) or not at all (`skip`), and a
repeated time at the `first` passage, the `second`, or `both`.
"""
import functools
import json
import re
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from croniter import croniter

MACROS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
          "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *",
          "@annually": "0 0 1 1 *"}
EPOCH = datetime(1970, 1, 1)
LONGEST_OFFSET = timedelta(hours=26)  # a local time is missing or repeated only this near a change
FIELDS = (("second", 0, 59), ("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12),
          ("weekday", 0, 6))


class NotJudged(Exception):
    """A schedule that croniter cannot express: the verdict on its ticks is unknown."""


def planned(definition, anchor_ms, after_ms, through_ms):
    """The ticks in (after, through], in order, of a stored definition's schedule."""
    return enumerated(json.dumps(definition["rules"]["schedule"]), anchor_ms, after_ms, through_ms)


@functools.lru_cache(maxsize=4096)  # several questions ask for the same ones
def enumerated(schedule_text, anchor_ms, after_ms, through_ms):
    schedule = json.loads(schedule_text)
    end = schedule.get("end_ms")
    if end is not None:
        through_ms = min(through_ms, end)
    kind = schedule.get("kind", "none")
    if kind == "none":
        return []
    start = schedule.get("start_ms")
    if kind == "once":
        return [start] if after_ms < start <= through_ms else []
    if kind == "fixed_rate":
        return fixed_rate(schedule["interval_ms"], anchor_ms, start, after_ms, through_ms)
    if start is not None:
        after_ms = max(after_ms, start - 1)
    return Cron(schedule).between(after_ms, through_ms)


def fixed_rate(interval, anchor, start, after, through):
    """Tick k is at anchor + k * interval; the anchor itself is a tick only when `start` is given."""
    k = 0 if start is not None else 1
    if after >= anchor + k * interval:
        k = (after - anchor) // interval + 1
    return list(range(anchor + k * interval, through + 1, interval))


class Cron:
    """One expression in one zone."""

    def __init__(self, schedule):
        text = MACROS.get(schedule["cron"].strip(), schedule["cron"])
        self.zone = ZoneInfo(schedule.get("time_zone") or "UTC")
        self.gap = schedule.get("gap", "run_at_end")
        self.fold = schedule.get("fold", "first")
        fields = text.upper().split()
        quartz = schedule.get("dialect") == "quartz" or (
            schedule.get("dialect", "guess") == "guess" and ("?" in fields or len(fields) == 7))
        if len(fields) == 7:
            if fields.pop() not in ("*", "?"):
                raise NotJudged(f"'{text}' names years")
        if len(fields) == 5:
            fields.insert(0, "0")
        if len(fields) != 6:
            raise NotJudged(f"'{text}' has {len(fields)} fields")
        self.elapsed = is_wildcard(fields[1], 0, 59) or is_wildcard(fields[2], 0, 23)
        both = quartz or fields[3][0] in "*?" or fields[5][0] in "*?"
        plain = [plain_field(field, rule, quartz) for field, rule in zip(fields, FIELDS)]
        self.expression = " ".join(plain[1:] + plain[:1])  # croniter reads the second last
        self.day_or = not both

    def between(self, after_ms, through_ms):
        if through_ms <= after_ms:
            return []
        begin, end = self.local_stretch(after_ms, through_ms)
        found = set()
        try:
            walk = croniter(self.expression, begin, day_or=self.day_or)
            while True:
                local = walk.get_next(datetime)
                if local > end:
                    break
                found.update(self.moments_of(local))
        except (ValueError, KeyError) as error:
            raise NotJudged(f"croniter does not take '{self.expression}': {error}") from error
        return sorted(ms for ms in found if after_ms < ms <= through_ms)

    def local_stretch(self, after_ms, through_ms):
        """Local times that may be moments in (after, through]: a wider range when the zone changes nearby."""
        begin, end = EPOCH + timedelta(milliseconds=after_ms), EPOCH + timedelta(milliseconds=through_ms)
        offsets, probe = set(), begin - LONGEST_OFFSET
        while probe < end + LONGEST_OFFSET + timedelta(hours=1):
            offsets.add(probe.replace(tzinfo=timezone.utc).astimezone(self.zone).utcoffset())
            probe += timedelta(hours=1)
        margin = timedelta(seconds=1) if len(offsets) == 1 else LONGEST_OFFSET
        return begin + min(offsets) - margin, end + max(offsets) + margin

    def moments_of(self, local):
        """The UTC moments (ms) at which a cron that matches this local time fires."""
        passages = sorted({utc for utc in (to_utc(local, self.zone, fold) for fold in (0, 1))
                           if utc.astimezone(self.zone).replace(tzinfo=None) == local})
        if not passages:
            if self.elapsed or self.gap == "skip":
                return []
            return [ms_of(end_of_gap(local, self.zone))]
        if len(passages) == 2 and not self.elapsed:
            if self.fold == "first":
                passages = passages[:1]
            elif self.fold == "second":
                passages = passages[1:]
        return [ms_of(utc) for utc in passages]


def to_utc(local, zone, fold):
    return local.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc)


def ms_of(utc):
    return int((utc - datetime(1970, 1, 1, tzinfo=timezone.utc)) / timedelta(milliseconds=1))


def end_of_gap(local, zone):
    """The moment at which the zone jumped over this local time, found by bisection."""
    low, high = sorted((to_utc(local, zone, 0), to_utc(local, zone, 1)))
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        if middle.astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high


def is_wildcard(field, low, high):
    """Whether some item covers the field from end to end, with or without a step."""
    for item in field.split(","):
        body, _, step = item.partition("/")
        if body == "*" or body == f"{low}-{high}" or (step and body == str(low)):
            return True
    return False


WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


def plain_field(field, rule, quartz):
    """The same field for croniter: no names of days, no '?', no range that wraps around."""
    name, low, high = rule
    if field == "?":
        return "*"
    if name in ("day", "weekday") and re.search(r"[LW#]", without_names(field)):
        raise NotJudged(f"the {name} field '{field}' has a special")
    if name == "weekday":
        field = plain_weekdays(field, quartz)
    return ",".join(unwrapped(item, low, high) for item in field.split(","))


def without_names(field):
    return re.sub("|".join(WEEKDAYS), "", field)


def plain_weekdays(field, quartz):
    """Numbers from Sunday = 0; Quartz counts from Sunday = 1."""
    def number(match):
        word = match.group(0)
        if word in WEEKDAYS:
            return str(WEEKDAYS.index(word))
        return str(int(word) - 1 if quartz else int(word))
    items = []
    for item in field.split(","):
        body, slash, step = item.partition("/")
        items.append(re.sub(r"[A-Z]{3}|\d+", number, body) + slash + step)
    return ",".join(items)


def unwrapped(item, low, high):
    """croniter omits Sunday from 5-7 and refuses 22-2."""
    found = re.fullmatch(r"(\d+)-(\d+)(/\d+)?", item)
    if not found:
        return item
    first, last = int(found.group(1)), int(found.group(2))
    if first <= last <= high:
        return item
    if found.group(3):
        raise NotJudged(f"the range '{item}' wraps around with a step")
    if last > high:  # Sunday as 7
        return "*" if first == low else f"{first}-{high},{low}"
    return f"{first}-{high},{low}-{last}" if last > low else f"{first}-{high},{low}"
