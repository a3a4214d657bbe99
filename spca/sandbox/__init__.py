"""The sandbox for generated code: its processes, its restrictions by the kernel, and tests of both."""
