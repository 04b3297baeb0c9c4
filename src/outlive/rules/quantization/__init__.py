"""DO THE INTEGERS STAND FOR THE RIGHT NUMBERS? Rules on scales, zero points and how they fit each other."""
