"""The rules of play: tilings, the transition function, episodes, and observations."""
