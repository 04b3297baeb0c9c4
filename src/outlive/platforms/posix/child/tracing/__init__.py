"""What the nursery reads of a dying worker by ptrace: signal, native stack, the operator that ran, memory."""
