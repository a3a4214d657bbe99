"""Run many jobs in worker processes or Ray actors, with a journal of finished jobs so that no job is done twice."""
