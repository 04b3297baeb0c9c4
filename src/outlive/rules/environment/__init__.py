"""WHAT DOES THE MACHINE LACK? Rules on what surrounds a model."""
