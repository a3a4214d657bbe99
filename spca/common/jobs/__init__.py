"""Run many jobs, each once: a journal of finished jobs, worker processes, Ray actors."""
