"""WHAT TAKES SPACE WITHOUT NEED? Rules on bytes a model could do without."""
