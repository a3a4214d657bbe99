"""Many pieces of work, each done once: a journal of what is finished, worker processes, actors of Ray."""
