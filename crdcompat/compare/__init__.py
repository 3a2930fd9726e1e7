"""Which changes there are, and what each does in both directions, proved by a witness."""
