"""What kernels make of their outputs at Prepare: shapes, where they live, values known by then."""
