"""What grows, for programs: kind "leak"."""

from __future__ import annotations

from outlive.growth.growth import Census, Growth, Round, Stage
from outlive.rendering.document import Json, document, finding_json

# A curve of this many points is as fine as any screen.
_MOST_POINTS = 500


def leak_json(growth: Growth) -> Json:
    """The document: the verdict of the worst stage, and every stage with its curve and what grew."""
    return document(
        "leak",
        {
            "what": growth.what,
            "verdict": growth.verdict,
            "bytes_per_iteration": growth.bytes_per_iteration,
            "low": growth.low,
            "high": growth.high,
            "above": growth.above,
            "died": growth.died,
            "stages": [_stage(stage) for stage in growth.stages],
            "findings": [finding_json(finding) for finding in growth.findings],
        },
    )


def _stage(stage: Stage) -> Json:
    return {
        "cycle": stage.cycle,
        "verdict": stage.verdict,
        "bytes_per_iteration": stage.bytes_per_iteration,
        "low": stage.low,
        "high": stage.high,
        "above": stage.above,
        "leading": stage.leading,
        "reason": stage.reason,
        "problem": stage.problem,
        "calls": stage.calls,
        "quantities": [
            {"name": name, **{key: getattr(trend, key) for key in trend.__slots__}}
            for name, trend in stage.trends.items()
        ],
        "ends": [{key: getattr(end, key) for key in end.__slots__} for end in stage.ends],
        "grew": None if stage.census is None else _census(stage.census),
        "rounds": [_round(row) for row in stage.rounds[:: max(1, len(stage.rounds) // _MOST_POINTS)]],
        "flight": None if stage.flight is None else stage.flight.to_json(),
    }


def _round(row: Round) -> Json:
    return {key: getattr(row, key) for key in row.__slots__}


def _census(census: Census) -> Json:
    def named(rows: tuple[tuple[str, float], ...]) -> list[Json]:
        return [{"name": name, "per_round": per_round} for name, per_round in rows]

    return {
        "rounds": census.rounds,
        "objects": [
            {
                "type": keeper.kind,
                "per_round": keeper.per_round,
                "bytes_each": keeper.bytes_each,
                "container": keeper.container,
                "kept_by": list(keeper.kept_by),
            }
            for keeper in census.keepers
        ],
        "descriptors": named(census.descriptors),
        "threads": named(census.threads),
        "mappings": named(census.mappings),
        "sites": named(census.sites),
    }
