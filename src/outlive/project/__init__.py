"""WHAT DOES A PROJECT SAY?

pyproject.toml, outlive.toml ──> config ──> Config: what is asked of each file, and which are left out
.gitignore, .outliveignore ──> ignore_files ──> what is left out below a folder
git ──> changed ──> the models that differ from a revision
"""

PUBLIC_MODULES = ("changed", "config", "ignore_files")
