"""WHAT DOES THE USER TYPE?

    outlive COMMAND ... ──> main ──> cli/COMMAND.py ──> api, report ──> exit code

One file per command, each with EXAMPLES, `configure(parser)` and `run(args) -> exit code`.
Exit codes: 0 clean, 1 findings of severity error, 2 usage, 3 the model died, 4 does not fit, 70 our bug,
130 interrupted.
"""

PUBLIC_MODULES = "main"
