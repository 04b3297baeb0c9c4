"""What a worker does for a leak test: rounds, what is held after each, and who holds it."""
