"""The page of a run, live while the run goes on."""
