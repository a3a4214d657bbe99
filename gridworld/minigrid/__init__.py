"""MiniGrid's side of a task: its objects and its view."""
