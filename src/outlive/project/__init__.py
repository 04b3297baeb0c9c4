"""WHAT DOES A PROJECT SAY?

pyproject.toml, outlive.toml ──> config ──> Config: what is asked of each file, and which are left out
git ──> changed ──> the models that differ from a revision
"""

PUBLIC_MODULES = ("changed", "config")
