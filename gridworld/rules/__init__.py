"""The rules of play: tilings, the transition function, episodes, and what may be seen."""
