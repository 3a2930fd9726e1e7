"""judge: one write, or many requests, judged as the API server would."""
