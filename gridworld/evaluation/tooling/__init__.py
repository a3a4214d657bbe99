"""The tools of the command line beside the evaluation: one module for each tool."""
