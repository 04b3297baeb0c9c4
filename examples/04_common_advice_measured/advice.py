"""The usual advice for a model that is too big, in numbers: `python advice.py MODEL`

Quantization, a smaller image, a smaller batch: what does each save, and what does it cost?
"""

import sys

import outlive

MODEL = sys.argv[1]
PLENTY = "4GB"


def megabytes(size: int | None) -> str:
    """A size in a column."""
    return "" if size is None else f"{size / 1e6:9.3f} MB"


def show(row: outlive.Outcome) -> None:
    """A line for a candidate."""
    loss = "" if row.loss is None else f"{row.loss:8.2%} lost"
    what = ", ".join(row.candidate.steps) or "as it is"
    print(f"{what:28} {megabytes(row.measured_peak_bytes)} {megabytes(row.file_bytes)} {loss}  {row.reason}")


print("what                            memory        file")
fit = outlive.fit(MODEL, ram=PLENTY, accelerator="cpu", all=True)
wanted = ("", "fp16", "dynamic-int8", "static-int8")
for row in fit.candidates:
    plain = not row.candidate.inputs and row.candidate.recipe in wanted and not row.candidate.kept
    halved = [shape for _, shape in row.candidate.inputs if shape[1] * 2 == fit.candidates[0].inputs[0][1][1]]
    if plain or (halved and not row.candidate.recipe):
        show(row)

print("\nbatch     memory (planned)")
for batch in (32, 1):
    plan = outlive.plan(MODEL, batch=batch)
    print(f"{batch:5} {megabytes(plan.peak_bytes)}")
