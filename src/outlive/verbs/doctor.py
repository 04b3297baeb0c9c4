"""`doctor`: what this machine offers, what is missing, and the command that fixes it."""

from outlive.cache import MOST_DAYS, most_bytes, usage
from outlive.cache import clean as clean_caches
from outlive.environment import capabilities, surroundings
from outlive.environment.machine_report import Environment
from outlive.rules import judge, load_rules


def doctor(*, clean: bool = False) -> Environment:
    """Check this machine: runtimes, memory, limits, isolation, accelerators.

    `clean` first removes what outlive keeps between runs, and temporary files and cgroups of killed programs.
    `.ready` is False if models cannot run here.

    >>> outlive.doctor().ready
    True
    """
    removed = clean_caches() if clean else ()
    checks = capabilities.survey()
    return Environment(
        checks=checks,
        # The rules about the machine alone: other rules load numpy, which may be what is broken here.
        findings=judge({"surroundings": surroundings.look_around()}, load_rules("E")).findings,
        caches=usage(),
        most_cache_bytes=most_bytes(),
        most_cache_days=MOST_DAYS,
        removed=removed,
    )
