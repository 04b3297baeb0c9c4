"""The parent's calls to a POSIX system: descriptors, pipes, shared memory, spawning, waiting, nurseries.

`process/operating_system.py` offers what other packages may use of it. A new platform is a package like this.
"""
