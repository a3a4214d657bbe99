"""Let a person play a scene in the browser or the terminal, judged and recorded like an agent."""
