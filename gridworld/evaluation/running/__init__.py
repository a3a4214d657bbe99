"""Running an evaluation: episodes, workers, journal and settings."""
