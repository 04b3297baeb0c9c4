"""The temporary tensors each kernel asks for when it is prepared: one file per group of operators."""
