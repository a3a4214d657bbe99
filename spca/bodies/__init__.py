"""The bodies that come with the program, one folder or module for each."""
