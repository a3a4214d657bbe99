"""Where generated code runs."""
