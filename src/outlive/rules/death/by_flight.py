"""The rules that judge a flight alone: all that a death of a function or a kernel needs of the catalogue."""

from __future__ import annotations

from outlive.rules.death.d501_killed_for_memory import killed_for_memory
from outlive.rules.death.d502_memory_limit_reached import memory_limit_reached
from outlive.rules.death.d503_deadline_missed import deadline_missed
from outlive.rules.death.d504_memory_fault import memory_fault
from outlive.rules.death.d505_runtime_abort import runtime_abort
from outlive.rules.death.d506_arithmetic_fault import arithmetic_fault
from outlive.rules.death.d507_other_signal import other_signal
from outlive.rules.death.d508_killed_from_outside import killed_from_outside
from outlive.rules.death.d509_process_left import process_left
from outlive.rules.death.d510_end_unknown import end_unknown
from outlive.rules.death.d511_runtime_refusal import runtime_refusal
from outlive.rules.death.d512_fork_after_threads import fork_after_threads
from outlive.rules.death.d513_check_failed import check_failed
from outlive.rules.death.d514_malformed_answer import malformed_answer
from outlive.rules.death.d515_system_refused_worker import system_refused_worker
from outlive.rules.death.d516_threads_refused import threads_refused
from outlive.rules.engine import Rule

# In the order of their codes; the catalogue has them from here.
BY_FLIGHT: tuple[Rule, ...] = (
    killed_for_memory,
    memory_limit_reached,
    deadline_missed,
    memory_fault,
    runtime_abort,
    arithmetic_fault,
    other_signal,
    killed_from_outside,
    process_left,
    end_unknown,
    runtime_refusal,
    fork_after_threads,
    check_failed,
    malformed_answer,
    system_refused_worker,
    threads_refused,
)
