"""Tasks: the records of a task, the reading and writing of task files, and the validation of tasks."""
