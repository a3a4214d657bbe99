"""The tools of the command line in addition to the evaluation: one module for each tool."""
