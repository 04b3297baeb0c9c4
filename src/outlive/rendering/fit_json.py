"""A search as JSON: the fields of the contract, and what else is known of each candidate."""

from __future__ import annotations

from outlive.fitting.nouns import Fit, Inputs, Outcome, Shortage
from outlive.rendering.document import Json, document


def fit_json(fit: Fit) -> Json:
    """The document; `written` is where the chosen model is, if it was written."""
    return document(
        "fit",
        {
            "model": {"path": fit.source or None, "file_bytes": fit.original_bytes},
            "budget": {
                "title": fit.budget.title,
                "ram_bytes": fit.budget.ram_bytes,
                "flash_bytes": fit.budget.flash_bytes,
                "source": fit.budget.source,
                "device": None if fit.budget.device is None else fit.budget.device.name,
            },
            "chosen": None if fit.chosen is None else outcome_json(fit.chosen),
            "candidates": [outcome_json(outcome) for outcome in fit.candidates],
            "front": [outcome.rank for outcome in fit.front],
            "max_loss": fit.max_loss,
            "loss_by": fit.loss_by,
            "loss_is_indicative": fit.is_indicative,
            "original_score": fit.original_score,
            "samples": fit.samples,
            "shortage": None if fit.shortage is None else _shortage(fit.shortage),
            "refusal": fit.refusal or None,
            "stopped": fit.stopped or None,
            "notes": list(fit.notes),
            "seconds": round(fit.seconds, 3),
            "written": fit.written[0] if fit.chosen is not None and fit.written else None,
        },
    )


def outcome_json(outcome: Outcome) -> Json:
    """One candidate."""
    candidate = outcome.candidate
    return {
        "rank": outcome.rank,
        "name": str(candidate),
        "recipe": outcome.recipe,
        "inputs": _shapes(outcome.inputs),
        "outputs": _shapes(outcome.outputs),
        "accelerator": candidate.accelerator,
        "weight_cache": candidate.weight_cache,
        "threads": candidate.threads,
        "batch": candidate.batch,
        "waste_removed": candidate.trimmed,
        "float_layers": list(candidate.kept),
        "tag": outcome.tag.value,
        "peak_bytes": outcome.peak_bytes,
        "measured_peak_bytes": outcome.measured_peak_bytes,
        "arena_bytes": outcome.arena_bytes,
        "file_bytes": outcome.file_bytes,
        "milliseconds": outcome.milliseconds,
        "loss": outcome.loss,
        "loss_share": outcome.loss_share,
        "score": outcome.score,
        "agreement": outcome.agreement,
        "sqnr_db": outcome.sqnr_db,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "on_front": outcome.on_front,
        "notes": list(outcome.notes),
    }


def _shapes(inputs: Inputs) -> list[Json]:
    return [{"name": name, "shape": list(shape)} for name, shape in inputs]


def _shortage(shortage: Shortage) -> Json:
    return {
        "smallest": outcome_json(shortage.smallest),
        "lower_bound_bytes": shortage.lower_bound_bytes,
        "op": None if shortage.op is None else {"index": shortage.op, "type": shortage.op_type},
        "tensors": [{"name": name, "size_bytes": size} for name, size in shortage.tensors],
        "needed_changes": list(shortage.needed_changes),
    }
