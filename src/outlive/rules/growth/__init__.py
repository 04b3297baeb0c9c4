"""Rules on what grows when something is repeated: one file each, on the fact `growth`."""
