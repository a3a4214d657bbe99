"""A person plays a scene: in the browser or in the terminal, judged and recorded as agents are."""
