"""One operator in between: no split would leave one piece."""

from __future__ import annotations

from pathlib import Path

from outlive.accelerators import Coverage
from outlive.accelerators.coverage import WhatIf
from tests.rules.coverages import RESHAPE, coverage, tried


def fact(tmp_path: Path) -> Coverage:
    return coverage(
        tried(
            "xnnpack-threads",
            ops_taken=3,
            taken=(0, 1, 3),
            partitions=2,
            refused=(RESHAPE,),
            what_ifs=(WhatIf(type="RESHAPE", reason=RESHAPE.reason, ops_taken=4, partitions=1),),
        )
    )
