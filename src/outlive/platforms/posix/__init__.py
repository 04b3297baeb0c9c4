"""POSIX systems: Linux has all of it; what other systems lack is left out, or has an answer that says so."""
