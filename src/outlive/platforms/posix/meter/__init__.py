"""What Linux tells in /proc and in its cgroups: memory, limits, tasks, what a process is doing."""
