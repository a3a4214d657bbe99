"""What the kernel holds: Landlock, seccomp and limits of a locked-down process."""
