"""How the parent waits for the answer to a hot call: awake while that is short, asleep when it is long.

the worker is awake, calls are short    ── wait awake                       an answer after some us
calls take some milliseconds            ── sleep, then wait awake, then nap
calls take longer, or it is crowded     ── not here: asleep on the pipe (`handle`)
"""

import os
import platform
import sys
import time

from outlive.platforms.posix.child import own_process
from outlive.platforms.posix.process.shared_block import SharedBlock
from outlive.process.child import wire

_SPIN_NS = 150_000
# A call that takes longer than this costs next to nothing more if we have to be woken after it.
_LONGEST_DOZE_NS = 20_000_000
_LATE_NS = 60_000  # by which a sleeper is woken too late
# The system makes a sleep of this thread longer by up to 50 us (prctl(2), timer slack) if it is not asked.
_NAP_S, _NAP_SLACK_NS = 20e-6, 1000
_PR_SET_TIMERSLACK, _PR_GET_TIMERSLACK = 29, 30  # linux/prctl.h
_NO_CORE = 0xFFFFFFFF
_SOME = 3  # one call in four
# When the worker often finds no core, more than one time in so many: how many calls both sides then sleep at
# once, doubled each time it happens again soon.
_ONE_IN, _OFTEN = 8, 4
_PATIENCE, _MOST_PATIENCE, _RECENTLY_NS = 64, 1024, 1_000_000_000


def wait_mode() -> str:
    """How a side waits awake for the other: "spin", "yield" or not at all ("").

    Spinning pays with two cores, and needs memory that keeps its order (x86). On a single core the side that
    waits gives it to the other instead, which costs half of what waking it through a pipe does.
    """
    if not hasattr(os, "sched_getaffinity"):
        return ""
    if len(os.sched_getaffinity(0)) == 1:
        return "yield"
    return "spin" if platform.machine().lower() in ("x86_64", "amd64") else ""


class AdaptiveWait:
    """Learns from call to call how long an answer takes, and whether there are cores to wait on."""

    def __init__(self, block: SharedBlock, way: str) -> None:
        """Start without experience."""
        self._block = block
        self._spin_ns = _SPIN_NS if way else 0
        # On a single core a sleeper is woken soon, and a late answer means that a third runs.
        one_core = way == "yield"
        # The plain function: a bound method would be a circle, and keep the block until it is collected.
        self._spin = AdaptiveWait._spin_in_turns if one_core else AdaptiveWait._spin_alone
        self._longest_doze_ns, self._often = (0, 2) if one_core else (_LONGEST_DOZE_NS, _OFTEN)
        self._usual_ns = self._crowded_ns = 0
        self.calls_to_sleep, self._last_calls_to_sleep, self._crowding = 0, _PATIENCE, 0

    def wait_awake(self, number: int) -> bool:
        """Wait awake for the answer; False if it takes longer than that is worth."""
        if self._usual_ns > self._spin_ns:
            return self._wait_long(number)
        found = self._spin(self, number, time.perf_counter_ns() + self._spin_ns)
        if self._crowding and found:
            self._crowding -= 1
        return found

    def learn(self, took_ns: int) -> None:
        """A call outlasted our waiting awake: it is long, or the worker had no core to run on.

        In the second case waiting awake only takes the cores from those who have work: for a while both sides
        sleep at once and are woken by the pipe.
        """
        self._note_usual(took_ns)
        if took_ns >= self._spin_ns // 2:
            return
        self._crowding += _ONE_IN
        if self._crowding < self._often * _ONE_IN:
            return
        now = time.perf_counter_ns()
        recently = now - self._crowded_ns < _RECENTLY_NS
        self._last_calls_to_sleep = (
            min(self._last_calls_to_sleep * 2, _MOST_PATIENCE) if recently else _PATIENCE
        )
        self._crowded_ns, self._crowding = now, 0
        self.calls_to_sleep = self._last_calls_to_sleep
        self._block.words[wire.PATIENT] = 1

    def _note_usual(self, took_ns: int) -> None:
        """Keep what a quick call takes: to sleep too long costs more than to wake too early."""
        usual_ns = self._usual_ns
        quick = not usual_ns or took_ns < usual_ns
        self._usual_ns = took_ns if quick else usual_ns + (took_ns - usual_ns) // 16

    def count_slept_call(self) -> None:
        """A call was slept through, as it was crowded; after some of them try again."""
        self.calls_to_sleep -= 1
        if not self.calls_to_sleep:
            self._block.words[wire.PATIENT] = 0

    def _wait_long(self, number: int) -> bool:
        """The same for calls that have lately taken a millisecond or some.

        To be woken takes 50 us and more, so such a call is slept through for most of that time, and awaited
        awake towards its end. A longer one does not notice.
        """
        usual_ns = self._usual_ns
        if usual_ns >= self._longest_doze_ns:
            return False
        time.sleep(max(0, usual_ns - max(self._spin_ns, usual_ns // 16) - _LATE_NS) * 1e-9)
        now = time.perf_counter_ns()
        found = self._spin(self, number, now + max(2 * self._spin_ns, usual_ns // 8))
        if found or self._nap(number, now + usual_ns // 2):
            self._note_usual(self._block.words[wire.TOOK_US] * 1000)
            return True
        return False

    def _nap(self, number: int, end_ns: int) -> bool:
        """Look now and then: a nap ends sooner after the answer than a sleeper is woken."""
        words = self._block.words
        slack_ns = _set_slack(_NAP_SLACK_NS)
        try:
            while time.perf_counter_ns() < end_ns:
                if words[wire.DONE] == number:
                    return True
                time.sleep(_NAP_S)
            return False
        finally:
            if slack_ns > 0:
                _set_slack(slack_ns)

    def _spin_alone(self, number: int, end_ns: int) -> bool:
        words = self._block.words
        while time.perf_counter_ns() < end_ns:
            for _ in range(40):
                if words[wire.DONE] == number:
                    return True
        return False

    def _spin_in_turns(self, number: int, end_ns: int) -> bool:
        """The same where both sides share a core; an answer that comes late tells of others on it."""
        words, give = self._block.words, os.sched_yield
        give()
        # The usual case, and the clock costs as much as the look: only some calls are asked how late it is.
        if words[wire.DONE] == number and number & _SOME:
            return True
        while True:
            if words[wire.DONE] == number:
                return time.perf_counter_ns() < end_ns
            if time.perf_counter_ns() >= end_ns:
                return False
            give()


def this_core() -> int:
    """The core that this thread runs on; a number that no core has, where the system does not say."""
    return own_process.this_core() & _NO_CORE


def _set_slack(slack_ns: int) -> int:
    """How late this thread may be woken from now on; what it was, or nothing above 0 if that is not known."""
    if sys.platform != "linux":
        return 0
    before = int(own_process.libc.prctl(_PR_GET_TIMERSLACK, 0, 0, 0, 0))
    own_process.libc.prctl(_PR_SET_TIMERSLACK, slack_ns, 0, 0, 0)
    return before
