"""Let a person play a scene in the browser or the terminal. The person is judged and recorded like an agent."""
