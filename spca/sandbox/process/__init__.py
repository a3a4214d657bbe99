"""The processes of the sandbox (zygote and workers), and the host's communication with these processes."""
