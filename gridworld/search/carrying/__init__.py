"""Exact search of tasks in which the agent carries keys to doors."""
