"""WHAT CAN BE ASKED?

The public functions, one module each: a verb gathers facts, asks the rules and returns a result. The command
line, notebooks and the pytest plugin call these and nothing below.

`judging` has the judge that they hand to workers, which turns what was seen into findings. The classes that a
program opens itself have it from here, too: `interpreter`, `compiled_model`, `tensor_buffer`, `debugger`.
What draws a result as a card comes from here as well: results do not know rendering.
"""

from outlive import results

PUBLIC_MODULES = (
    "autopsy", "blackbox", "check", "checking", "choices", "compare", "compiled_model", "convert", "cut",
    "debugger", "delegates", "demo", "devices", "diagnose", "doctor", "explain", "export", "fit", "guard",
    "guarded_process", "interpreter", "judging", "leak", "plan", "progress", "quantize", "read", "report",
    "run", "scan", "snippet", "tensor_buffer", "watch",
)  # fmt: skip


def _draw_card(result: object) -> str:
    from outlive.rendering.media.notebook import card_html, page_of_any

    return card_html(page_of_any(result))


results.draw_card = _draw_card
