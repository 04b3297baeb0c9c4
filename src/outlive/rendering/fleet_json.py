"""A scan as a JSON document: its numbers, what got worse, and where its rows are."""

from __future__ import annotations

import json
from dataclasses import asdict

from outlive.fleet.comparing import Comparison
from outlive.fleet.nouns import versions
from outlive.fleet.scanning import Scan
from outlive.rendering.document import Json, document


def scan_json(scan: Scan, files: list[str], with_rows: bool) -> Json:
    """The document of `outlive scan`; `files` are those that were written."""
    tally = scan.tally
    body: Json = {
        "engine": scan.engine,
        "versions": versions(),
        "asked": {
            "run": scan.order.run,
            "delegates": scan.order.delegates,
            "devices": [device.name for device in scan.order.devices],
            "accelerator": scan.order.accelerator,
        },
        "files": tally.files,
        "rows": [json.loads(row.line()) for row in scan] if with_rows else len(scan),
        "resumed": tally.resumed,
        "from_cache": tally.from_cache,
        "identical": tally.same,
        "with_errors": tally.errors,
        "outcomes": dict(sorted(tally.outcomes.items())),
        "causes": dict(tally.causes.most_common()),
        "codes": dict(tally.codes.most_common()),
        "fits": {device: dict(words) for device, words in tally.fits.items()},
        "written": files,
        "against": None if scan.comparison is None else comparison_json(scan.comparison),
    }
    return document("scan", body)


def comparison_json(found: Comparison) -> Json:
    """What got worse since an older scan."""
    return {
        "old": str(found.old_path),
        "compared": found.compared,
        "added": found.added,
        "gone": found.gone,
        "worse": found.worse,
        "better": found.better,
        "counts": dict(sorted(found.counts.items())),
        "regressions": [asdict(item) for item in found.regressions],
    }
