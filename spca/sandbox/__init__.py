"""The sandbox for generated code: its processes, the restrictions that the kernel enforces, and tests of both."""
