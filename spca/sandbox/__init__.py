"""The sandbox for generated code: what a method may be, where it runs, and what it costs when it misbehaves."""
