"""The commands of ``main.py``; each module contains the options and the function of one command."""
