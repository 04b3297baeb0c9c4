"""What nursery and workers ask of the operating system: limits, forks, memory cgroups, sandbox, shared pages.

Linux has all of it; other POSIX systems have part of it, and what they lack is left out.
"""
