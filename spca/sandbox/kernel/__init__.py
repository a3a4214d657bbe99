"""Restrictions of a process by the Linux kernel: Landlock, seccomp and resource limits."""
