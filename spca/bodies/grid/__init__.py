"""The body of MiniGrid, which gridworld tasks and the robot share: seven primitives, a map of words, a compass."""
