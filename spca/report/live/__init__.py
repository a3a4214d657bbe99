"""A live page of a run, which is updated while the run goes on."""
